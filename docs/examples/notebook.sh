#!/bin/bash
# Jupyter as a service of a job: hai lets its owner in, the token keeps out others on this node.
export JUPYTER_TOKEN=${JUPYTER_TOKEN:-$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')}
echo "the token is $JUPYTER_TOKEN"
options=(--no-browser --ip=127.0.0.1 --port="$HAI_SERVICE_JUPYTER_PORT" --port-retries=0
  --NotebookApp.base_url="$HAI_SERVICE_JUPYTER_PATH" --NotebookApp.allow_remote_access=True)
if [ "$(id -u)" = 0 ]; then options+=(--allow-root); fi  # as on a cluster of `hai dev up`
exec jupyter notebook "${options[@]}"
