// A loopback HTTP server for benchmarks: GET, keep-alive, sendfile, a thread a connection, and a delay before every
// answer that stands for the way there and back.
// serve FOLDER DELAY_MICROSECONDS  prints its port, and serves until its standard input ends.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *folder;
static unsigned delay;

static void *serve(void *argument) {
    int connection = (int)(long)argument;
    char request[8192];
    size_t have = 0;
    for (;;) {
        ssize_t got = recv(connection, request + have, sizeof request - 1 - have, 0);
        if (got <= 0)
            break;
        have += (size_t)got;
        request[have] = 0;
        if (strstr(request, "\r\n\r\n") == NULL)
            continue;
        have = 0;
        char path[1024], name[2048], head[256];
        int old = strstr(request, "HTTP/1.0") != NULL;
        if (sscanf(request, "%*s /%1000s", path) != 1 || strstr(path, "..") != NULL)
            break;
        snprintf(name, sizeof name, "%s/%s", folder, path);
        if (delay > 0)
            usleep(delay);
        int file = open(name, O_RDONLY);
        struct stat status;
        if (file < 0 || fstat(file, &status) != 0) {
            static const char missing[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
            if (write(connection, missing, sizeof missing - 1) < 0)
                break;
            continue;
        }
        int length = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %lld\r\n%s\r\n",
                              (long long)status.st_size, old ? "Connection: close\r\n" : "");
        int more = 1;
        setsockopt(connection, IPPROTO_TCP, TCP_CORK, &more, sizeof more);
        ssize_t sent = write(connection, head, (size_t)length);
        if (strncmp(request, "HEAD", 4) != 0)
            for (off_t at = 0; sent > 0 && at < status.st_size;)
                sent = sendfile(connection, file, &at, (size_t)(status.st_size - at));
        more = 0;
        setsockopt(connection, IPPROTO_TCP, TCP_CORK, &more, sizeof more);
        close(file);
        if (sent <= 0 || old)
            break;
    }
    close(connection);
    return NULL;
}

static void *accept_all(void *argument) {
    for (;;) {
        int connection = accept((int)(long)argument, NULL, NULL);
        pthread_t thread;
        if (connection >= 0 && pthread_create(&thread, NULL, serve, (void *)(long)connection) == 0)
            pthread_detach(thread);
    }
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 3)
        return 2;
    folder = arguments[1];
    delay = (unsigned)atoi(arguments[2]);
    signal(SIGPIPE, SIG_IGN);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 128) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        return 1;
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    pthread_t thread;
    pthread_create(&thread, NULL, accept_all, (void *)(long)listener);
    while (getchar() != EOF)
        ;
    return 0;
}
