// The limit that bench/download.py measures against: one thread that receives, writes and hashes with OpenSSL.
// loop PORT PATH FILE  prints the SHA-256 of what it received.
#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static unsigned char buffer[64 * 1024];

int main(int count, char **arguments) {
    if (count != 4)
        return 2;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((unsigned short)atoi(arguments[1])),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection, (struct sockaddr *)&address, sizeof address) != 0)
        return 1;
    int length = snprintf((char *)buffer, sizeof buffer, "GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n", arguments[2]);
    if (write(connection, buffer, (size_t)length) != length)
        return 1;
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    EVP_DigestInit_ex(digest, EVP_sha256(), NULL);
    int file = open(arguments[3], O_CREAT | O_TRUNC | O_WRONLY, 0644);
    int in_head = 1;
    ssize_t got;
    while ((got = recv(connection, buffer, sizeof buffer, 0)) > 0) {
        unsigned char *start = buffer;
        if (in_head) {  // servers send it in one piece
            start = memmem(buffer, (size_t)got, "\r\n\r\n", 4);
            if (start == NULL)
                return 1;
            start += 4;
            got -= start - buffer;
            in_head = 0;
        }
        if (write(file, start, (size_t)got) != got)
            return 1;
        EVP_DigestUpdate(digest, start, (size_t)got);
    }
    unsigned char sum[32];
    EVP_DigestFinal_ex(digest, sum, NULL);
    for (int i = 0; i < 32; i++)
        printf("%02x", sum[i]);
    puts("");
    return got < 0;
}
