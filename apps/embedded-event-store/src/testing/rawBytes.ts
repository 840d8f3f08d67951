// Calls with arbitrary message bytes, and invalid gRPC calls.
import { once } from 'node:events'
import { connect as connectHttp2, constants, type OutgoingHttpHeaders } from 'node:http2'
import grpcStubs, { type StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import type { Test } from 'tap'

const streams = '/event_store.client.streams.Streams'
export const methods = {
  read: `${streams}/Read`,
  append: `${streams}/Append`,
  batchAppend: `${streams}/BatchAppend`,
  delete: `${streams}/Delete`,
  tombstone: `${streams}/Tombstone`,
  supportedMethods: '/event_store.client.server_features.ServerFeatures/GetSupportedMethods',
  gossip: '/event_store.client.gossip.Gossip/Read',
} as const

export function connectBare(t: Test, port: number): Client {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.max_send_message_length': -1,
    'grpc.max_receive_message_length': -1,
  })
  t.teardown(() => client.close())
  return client
}

/** A client with its own connection; gRPC clients with the same address share one by default. */
export function connectAlone(t: Test, port: number): StreamsClient {
  const client = new grpcStubs.StreamsClient(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
  })
  t.teardown(() => client.close())
  return client
}

/** Sends arbitrary bytes to a method, half-closes the call, and returns its status, possibly that of the deadline. */
export function callWithBytes(
  client: Client,
  path: string,
  messages: readonly Buffer[],
  timeoutMs = 10_000,
): Promise<string> {
  return new Promise((resolve) => {
    const same = (bytes: Buffer) => bytes
    const deadline = Date.now() + timeoutMs
    const call = client.makeBidiStreamRequest(path, same, same, new Metadata(), { deadline })
    call.on('data', () => undefined)
    call.on('error', (error: ServiceError) => resolve(status[error.code] ?? String(error.code)))
    call.on('end', () => resolve('OK'))
    for (const message of messages) call.write(message)
    call.end()
  })
}

/** A gRPC frame: flag, claimed length, and bytes. */
export function frame(bytes: Buffer, { flag = 0, length = bytes.length } = {}): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt8(flag, 0)
  head.writeUInt32BE(length, 1)
  return Buffer.concat([head, bytes])
}

/** Posts a raw body over HTTP/2; returns the HTTP and the gRPC status. */
export async function post(
  port: number,
  path: string,
  body: Buffer,
  headers: OutgoingHttpHeaders = {},
): Promise<{ http: number | undefined; grpc: string | undefined }> {
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  session.on('error', () => undefined)
  try {
    const request = session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    })
    let http: number | undefined
    let grpc: string | undefined
    request.on('response', (response) => {
      http = response[':status']
      grpc = nameOf(response['grpc-status'])
    })
    request.on('trailers', (trailers) => {
      grpc = nameOf(trailers['grpc-status'])
    })
    request.on('error', () => undefined)
    request.resume()
    if (!request.writableEnded) request.end(body)
    await once(request, 'close')
    return { http, grpc }
  } finally {
    session.destroy()
  }
}

function nameOf(code: unknown): string | undefined {
  return code === undefined ? undefined : status[Number(code)]
}
