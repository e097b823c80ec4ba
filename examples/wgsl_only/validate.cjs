// What a page would do with a WGSL bundle, on a device that checks everything and runs nothing: Dawn's null backend.
// Arguments: bundle.json of `toolchain bundle extract`. Ends with 1 where Dawn finds something.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

const SAMPLED = "rgba8unorm";
const SIZE = 256;

/** A resource of the kind that a row of the bundle asks for. */
function resource(device, row) {
  switch (row.kind) {
    case "constant_buffer":
      return { buffer: device.createBuffer({ size: Math.ceil(row.size_bytes / 16) * 16, usage: GPUBufferUsage.UNIFORM }) };
    case "buffer":
    case "rw_buffer":
      return { buffer: device.createBuffer({ size: 65536, usage: GPUBufferUsage.STORAGE }) };
    case "texture":
    case "rw_texture": {
      const usage = row.kind === "texture" ? GPUTextureUsage.TEXTURE_BINDING : GPUTextureUsage.STORAGE_BINDING;
      const format = row.image_format === "rgba8" || row.kind === "texture" ? SAMPLED : row.image_format;
      return device.createTexture({ size: [SIZE, SIZE], format, usage }).createView();
    }
    case "sampler":
      return device.createSampler({ magFilter: "linear", minFilter: "linear" });
    default:
      throw new Error(`no sample of a ${row.kind}`);
  }
}

async function main() {
  const { create, globals } = await import(require.resolve("webgpu"));
  Object.assign(globalThis, globals);
  const file = process.argv[2];
  const bundle = JSON.parse(fs.readFileSync(file, "utf8"));
  const adapter = await create(["backend=null"]).requestAdapter();
  const device = await adapter.requestDevice();
  let wrong = 0;
  for (const group of bundle.groups) {
    for (const entry of group.entries) {
      const found = entry.codes.wgsl;
      device.pushErrorScope("validation");
      const module = device.createShaderModule({ code: fs.readFileSync(path.join(path.dirname(file), found.file), "utf8") });
      const pipeline = device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: found.name } });
      const commands = device.createCommandEncoder();
      const pass = commands.beginComputePass();
      pass.setPipeline(pipeline);
      const rows = group.layouts.wgsl.rows.filter((row) => row.kind !== "value" && !row.dropped);
      for (const space of new Set(rows.map((row) => row.space))) {
        const entries = rows
          .filter((row) => row.space === space)
          .map((row) => ({ binding: row.binding, resource: resource(device, row) }));
        pass.setBindGroup(space, device.createBindGroup({ layout: pipeline.getBindGroupLayout(space), entries }));
      }
      const [x, y] = entry.thread_group_size;
      pass.dispatchWorkgroups(Math.ceil(SIZE / x), Math.ceil(SIZE / y));
      pass.end();
      device.queue.submit([commands.finish()]);
      const error = await device.popErrorScope();
      console.log(`  ${group.name}/${entry.name}: ${error === null ? "Dawn accepts it" : error.message}`);
      wrong += error === null ? 0 : 1;
    }
  }
  device.destroy();
  process.exit(wrong === 0 ? 0 : 1);
}

main().catch((error) => {
  console.error(error);
  process.exit(2);
});
