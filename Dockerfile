# syntax=docker/dockerfile:1
# The checker for CI that runs containers: docker run --rm -v "$PWD:/code:ro" clmap-lsp check .
FROM python:3.12-slim AS build
COPY . /source
RUN pip install --quiet build && python -m build --wheel --outdir /wheels /source

FROM python:3.12-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --quiet --no-cache-dir "$(echo /wheels/*.whl)[emulate,report]" \
    && useradd --create-home clmap
USER clmap
WORKDIR /code
ENTRYPOINT ["clmap-lsp"]
CMD ["--help"]
