/* An OpenCL layer that writes what a program launches: sources, build options, and every launch.
 *
 * The ICD loader puts it under any host program that OPENCL_LAYERS is set for. Each event is one line of JSON,
 * written with one write() to the file that CLMAP_RECORD names, so that a killed program loses nothing.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ARGUMENT 128 /* bytes of a scalar, vector or struct that are kept */

static const struct _cl_icd_dispatch *next;
static struct _cl_icd_dispatch table;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int out = -1;

/* ------------------------------------------------------------------------------------------ text */

struct text {
    char *at;
    size_t length, room;
};

static void append(struct text *text, const char *bytes, size_t count) {
    if (text->length + count + 1 > text->room) {
        size_t room = (text->length + count + 1) * 2;
        char *grown = realloc(text->at, room);
        if (!grown) return;
        text->at = grown;
        text->room = room;
    }
    memcpy(text->at + text->length, bytes, count);
    text->length += count;
    text->at[text->length] = 0;
}

static void format(struct text *text, const char *pattern, ...) {
    char buffer[256];
    va_list arguments;
    va_start(arguments, pattern);
    int count = vsnprintf(buffer, sizeof buffer, pattern, arguments);
    va_end(arguments);
    if (count > 0) append(text, buffer, (size_t)count < sizeof buffer ? (size_t)count : sizeof buffer - 1);
}

static void quote(struct text *text, const char *bytes, size_t count) {
    append(text, "\"", 1);
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '"' || c == '\\')
            format(text, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            format(text, "\\u%04x", c); /* one byte each; the reader puts UTF-8 together again */
        else
            append(text, bytes + i, 1);
    }
    append(text, "\"", 1);
}

static void emit(struct text *text) {
    append(text, "\n", 1);
    size_t done = 0;
    while (text->at && done < text->length) {
        ssize_t count = write(out, text->at + done, text->length - done);
        if (count <= 0) break;
        done += (size_t)count;
    }
    free(text->at);
}

/* ------------------------------------------------------------------------------------- what is known */

struct argument {
    size_t size;
    int is_local, is_set;
    size_t buffer;
    int is_buffer;
    unsigned char bytes[MAX_ARGUMENT];
};

struct known {
    void *handle;
    char kind; /* p program, k kernel, b buffer */
    unsigned long number;
    size_t size; /* of a buffer */
    unsigned count;
    struct argument *arguments;
    struct known *after;
};

#define BUCKETS 4096
static struct known *buckets[BUCKETS];
static unsigned long numbers;

static struct known **bucket(void *handle) { return &buckets[((size_t)handle >> 4) % BUCKETS]; }

static struct known *find(void *handle, char kind) {
    for (struct known *it = *bucket(handle); it; it = it->after)
        if (it->handle == handle && it->kind == kind) return it;
    return NULL;
}

/* Handles are used again by drivers: what is made anew takes the place of what was. */
static struct known *remember(void *handle, char kind) {
    struct known *it = find(handle, kind);
    if (!it) {
        it = calloc(1, sizeof *it);
        if (!it) return NULL;
        it->handle = handle;
        it->kind = kind;
        it->after = *bucket(handle);
        *bucket(handle) = it;
    }
    free(it->arguments);
    it->arguments = NULL;
    it->count = 0;
    it->size = 0;
    it->number = ++numbers;
    return it;
}

/* -------------------------------------------------------------------------------------------- programs */

static cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const char **strings,
                                             const size_t *lengths, cl_int *error) {
    cl_program program = next->clCreateProgramWithSource(context, count, strings, lengths, error);
    if (program) {
        struct text line = {0}, source = {0};
        for (cl_uint i = 0; i < count; i++)
            if (strings[i]) append(&source, strings[i], lengths && lengths[i] ? lengths[i] : strlen(strings[i]));
        pthread_mutex_lock(&lock);
        struct known *it = remember(program, 'p');
        if (it) {
            format(&line, "{\"event\":\"program\",\"program\":%lu,\"source\":", it->number);
            quote(&line, source.at ? source.at : "", source.length);
            append(&line, "}", 1);
            emit(&line);
        }
        pthread_mutex_unlock(&lock);
        free(source.at);
    }
    return program;
}

static void note_options(cl_program program, const char *options) {
    pthread_mutex_lock(&lock);
    struct known *it = find(program, 'p');
    if (it) {
        struct text line = {0};
        format(&line, "{\"event\":\"build\",\"program\":%lu,\"options\":", it->number);
        quote(&line, options ? options : "", options ? strlen(options) : 0);
        append(&line, "}", 1);
        emit(&line);
    }
    pthread_mutex_unlock(&lock);
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id *devices,
                                        const char *options,
                                        void(CL_CALLBACK *done)(cl_program, void *), void *data) {
    note_options(program, options);
    return next->clBuildProgram(program, count, devices, options, done, data);
}

static cl_int CL_API_CALL compile_program(cl_program program, cl_uint count, const cl_device_id *devices,
                                          const char *options, cl_uint headers, const cl_program *included,
                                          const char **names, void(CL_CALLBACK *done)(cl_program, void *),
                                          void *data) {
    note_options(program, options);
    return next->clCompileProgram(program, count, devices, options, headers, included, names, done, data);
}

/* --------------------------------------------------------------------------------------------- kernels */

static void note_kernel(cl_kernel kernel, cl_program program, const char *name) {
    pthread_mutex_lock(&lock);
    struct known *it = remember(kernel, 'k'), *of = find(program, 'p');
    if (it) {
        struct text line = {0};
        format(&line, "{\"event\":\"kernel\",\"kernel\":%lu,\"program\":%lu,\"name\":", it->number,
               of ? of->number : 0);
        quote(&line, name, strlen(name));
        append(&line, "}", 1);
        emit(&line);
    }
    pthread_mutex_unlock(&lock);
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *error) {
    cl_kernel kernel = next->clCreateKernel(program, name, error);
    if (kernel) note_kernel(kernel, program, name);
    return kernel;
}

static cl_int CL_API_CALL create_kernels(cl_program program, cl_uint count, cl_kernel *kernels,
                                         cl_uint *made) {
    cl_uint found = 0;
    cl_int error = next->clCreateKernelsInProgram(program, count, kernels, &found);
    if (made) *made = found;
    for (cl_uint i = 0; kernels && error == CL_SUCCESS && i < found && i < count; i++) {
        char name[512] = "";
        next->clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
        note_kernel(kernels[i], program, name);
    }
    return error;
}

static cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    cl_int error = next->clSetKernelArg(kernel, index, size, value);
    if (error != CL_SUCCESS || index > 1024) return error;
    pthread_mutex_lock(&lock);
    struct known *it = find(kernel, 'k');
    if (it && index >= it->count) {
        struct argument *grown = realloc(it->arguments, (index + 1) * sizeof *grown);
        if (grown) {
            memset(grown + it->count, 0, (index + 1 - it->count) * sizeof *grown);
            it->arguments = grown;
            it->count = index + 1;
        }
    }
    if (it && index < it->count) {
        struct argument *argument = &it->arguments[index];
        memset(argument, 0, sizeof *argument);
        argument->size = size;
        argument->is_set = 1;
        if (!value) {
            argument->is_local = 1;
        } else {
            memcpy(argument->bytes, value, size < MAX_ARGUMENT ? size : MAX_ARGUMENT);
            struct known *buffer = size == sizeof(void *) ? find(*(void *const *)value, 'b') : NULL;
            if (buffer) {
                argument->is_buffer = 1;
                argument->buffer = buffer->size;
            }
        }
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static cl_mem note_buffer(cl_mem buffer, size_t size) {
    if (buffer) {
        pthread_mutex_lock(&lock);
        struct known *it = remember(buffer, 'b');
        if (it) it->size = size;
        pthread_mutex_unlock(&lock);
    }
    return buffer;
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                                        cl_int *error) {
    return note_buffer(next->clCreateBuffer(context, flags, size, host, error), size);
}

static cl_mem CL_API_CALL create_sub_buffer(cl_mem whole, cl_mem_flags flags, cl_buffer_create_type type,
                                            const void *info, cl_int *error) {
    cl_mem part = next->clCreateSubBuffer(whole, flags, type, info, error);
    return note_buffer(part, info ? ((const cl_buffer_region *)info)->size : 0);
}

/* -------------------------------------------------------------------------------------------- launches */

static void sizes(struct text *line, const char *name, cl_uint dimensions, const size_t *values) {
    format(line, ",\"%s\":", name);
    if (!values) {
        append(line, "null", 4);
        return;
    }
    for (cl_uint i = 0; i < dimensions; i++) format(line, "%c%zu", i ? ',' : '[', values[i]);
    append(line, "]", 1);
}

static void note_launch(cl_kernel kernel, cl_uint dimensions, const size_t *offset, const size_t *global,
                        const size_t *local) {
    pthread_mutex_lock(&lock);
    struct known *it = find(kernel, 'k');
    if (it) {
        struct text line = {0};
        format(&line, "{\"event\":\"launch\",\"kernel\":%lu", it->number);
        sizes(&line, "global", dimensions, global);
        sizes(&line, "local", dimensions, local);
        sizes(&line, "offset", dimensions, offset);
        append(&line, ",\"args\":[", 9);
        for (unsigned i = 0; i < it->count; i++) {
            struct argument *argument = &it->arguments[i];
            if (i) append(&line, ",", 1);
            if (!argument->is_set) {
                append(&line, "null", 4);
            } else if (argument->is_local) {
                format(&line, "{\"local\":%zu}", argument->size);
            } else if (argument->is_buffer) {
                format(&line, "{\"buffer\":%zu}", argument->buffer);
            } else {
                format(&line, "{\"size\":%zu,\"bytes\":\"", argument->size);
                for (size_t k = 0; k < argument->size && k < MAX_ARGUMENT; k++)
                    format(&line, "%02x", argument->bytes[k]);
                append(&line, "\"}", 2);
            }
        }
        append(&line, "]}", 2);
        emit(&line);
    }
    pthread_mutex_unlock(&lock);
}

static cl_int CL_API_CALL enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const size_t *offset, const size_t *global, const size_t *local,
                                  cl_uint count, const cl_event *events, cl_event *event) {
    note_launch(kernel, dimensions, offset, global, local);
    return next->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, count, events, event);
}

static cl_int CL_API_CALL enqueue_task(cl_command_queue queue, cl_kernel kernel, cl_uint count,
                                       const cl_event *events, cl_event *event) {
    const size_t one = 1;
    note_launch(kernel, 1, NULL, &one, &one);
    return next->clEnqueueTask(queue, kernel, count, events, event);
}

/* ------------------------------------------------------------------------------------------- the layer */

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value, size_t *needed) {
    if (name != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
    if (value && size < sizeof(cl_layer_api_version)) return CL_INVALID_VALUE;
    if (value) *(cl_layer_api_version *)value = CL_LAYER_API_VERSION_100;
    if (needed) *needed = sizeof(cl_layer_api_version);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const struct _cl_icd_dispatch *target,
                                            cl_uint *made, const struct _cl_icd_dispatch **ours) {
    const char *path = getenv("CLMAP_RECORD");
    if (!target || !ours || !made || entries < sizeof table / sizeof(void *)) return CL_INVALID_VALUE;
    if (path) out = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    next = target;
    if (out >= 0) {
        table.clCreateProgramWithSource = create_program;
        table.clBuildProgram = build_program;
        table.clCompileProgram = compile_program;
        table.clCreateKernel = create_kernel;
        table.clCreateKernelsInProgram = create_kernels;
        table.clSetKernelArg = set_argument;
        table.clCreateBuffer = create_buffer;
        table.clCreateSubBuffer = create_sub_buffer;
        table.clEnqueueNDRangeKernel = enqueue;
        table.clEnqueueTask = enqueue_task;
    }
    *ours = &table;
    *made = sizeof table / sizeof(void *);
    return CL_SUCCESS;
}
