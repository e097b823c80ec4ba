// Asks Dawn, without a GPU, about WGSL modules. stdin: [{code, entry, compute}]; stdout's last line: a text each, ""
// where accepted. Dawn prints its warnings to stdout too.
import { readFileSync } from "node:fs";

const { create, globals } = await import(process.argv[2]);
Object.assign(globalThis, globals);
const gpu = create(["backend=null"]);
const requests = JSON.parse(readFileSync(0, "utf-8"));
const answers = [];
for (const request of requests) {
    // A device each, and so an adapter each: the errors of one module must not reach the next.
    const adapter = await gpu.requestAdapter();
    const device = await adapter.requestDevice({ requiredFeatures: [...adapter.features] });
    device.pushErrorScope("validation");
    const module = device.createShaderModule({ code: request.code });
    const information = await module.getCompilationInfo();
    const errors = information.messages
        .filter((message) => message.type === "error")
        .map((message) => `${message.lineNum}:${message.linePos}: ${message.message}`);
    if (errors.length === 0 && request.compute) {
        device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: request.entry } });
    }
    const error = await device.popErrorScope();
    if (errors.length === 0 && error !== null) {
        errors.push(error.message);
    }
    answers.push(errors.join("\n"));
    device.destroy();
}
process.stdout.write(`\n${JSON.stringify(answers)}`, () => process.exit(0));
