#!/bin/sh
# What a person keeps to try a service.
curl -s http://127.0.0.1:8000/todos/?limit=10 -H 'Accept: application/json' | jq .

curl -X POST http://127.0.0.1:8000/todos/ \
  -H 'Accept: application/json' \
  --json '{"title": "Buy milk", "done": false}'
curl http://127.0.0.1:8000/login -d 'user=ann&password=s3cret&next=%2Fhome'
