// The gRPC server: its services, limits and shutdown.
import {
  Server,
  ServerCredentials,
  type sendUnaryData,
  type UntypedHandleCall,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { createBatchAppend } from './append/batchAppend.ts'
import { createDelete, createTombstone } from './append/removal.ts'
import { createAppend } from './append/unaryAppend.ts'
import type { Writer } from './append/writer.ts'
import { type Admits, createAdmission } from './credentials.ts'
import { createGetSupportedMethods, createGossip } from './discovery.ts'
import { unauthenticated } from './protocol/callError.ts'
import type { Log } from './read/log.ts'
import { createRead } from './read/read.ts'
import { gossipService, serverFeaturesService, streamsService } from './services.ts'
import type { Tail } from './subscriptions/tail.ts'

/** The client sends chunks of up to 3 MiB, and reads messages of up to 17 MiB. */
const maxMessageBytes = 17 << 20
/** Further calls of a client wait. EventStoreDB's limit is 100. */
const maxCallsPerConnection = 1_000
/** A connection that does not respond to a ping is closed with all its calls. EventStoreDB's values. */
const keepaliveIntervalMs = 10_000
const keepaliveTimeoutMs = 10_000
const stopTimeoutMs = 3_000
const cancelledCallsPerSecond = 100_000

export type StoreServer = {
  readonly port: number
  /** Fails open calls with UNAVAILABLE and closes, in bounded time. */
  stop(): Promise<void>
}

/**
 * @param options port 0 selects a free one
 * @throws Error when the address cannot be bound
 */
export async function startServer(options: {
  readonly host: string
  readonly port: number
  readonly maxAppendBytes: number
  /** `user:password` each; without any, every call is admitted. */
  readonly credentials: readonly string[]
  readonly writer: Writer
  readonly events: Log
  readonly tail: Tail
  readonly log: Logger
}): Promise<StoreServer> {
  const { host, writer, maxAppendBytes, events, tail, log } = options
  const stopping = new AbortController()
  const server = new Server({
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.max_concurrent_streams': maxCallsPerConnection,
    'grpc.keepalive_time_ms': keepaliveIntervalMs,
    'grpc.keepalive_timeout_ms': keepaliveTimeoutMs,
  })
  tolerateCancelledCalls(server)
  let boundPort = options.port
  const methods = {
    read: createRead({ events, tail, log, stopping: stopping.signal }),
    append: createAppend({ writer, maxAppendBytes }),
    batchAppend: createBatchAppend({ writer, maxAppendBytes, stopping: stopping.signal }),
    delete: createDelete({ writer }),
    tombstone: createTombstone({ writer }),
  }
  server.addService(streamsService, guarded(methods, createAdmission(options.credentials)))
  // Without authentication, as in EventStoreDB: clients call both before they log in.
  server.addService(serverFeaturesService, { getSupportedMethods: createGetSupportedMethods() })
  server.addService(gossipService, { read: createGossip({ host, port: () => boundPort }) })
  boundPort = await bind(server, host, options.port)
  return {
    port: boundPort,
    async stop() {
      stopping.abort()
      await shutDown(server)
    },
  }
}

/** Rejects calls without valid credentials before their handler runs. */
function guarded(methods: UntypedServiceImplementation, admits: Admits): UntypedServiceImplementation {
  return Object.fromEntries(
    Object.entries(methods).map(([name, handle]): [string, UntypedHandleCall] => [
      name,
      (call: Parameters<UntypedHandleCall>[0], callback?: sendUnaryData<unknown>) => {
        if (admits(call.metadata)) Reflect.apply(handle, undefined, [call, callback])
        else if (callback === undefined) call.emit('error', unauthenticated())
        else callback(unauthenticated())
      },
    ]),
  )
}

/**
 * Node's HTTP/2 closes a connection after 1,000 cancelled streams and more than 33 a second. Cancelling is how this protocol
 * ends subscriptions and partial reads, and grpc-js has no option to raise the limit.
 */
function tolerateCancelledCalls(server: Server): void {
  const http2Options: unknown = Reflect.get(server, 'commonServerOptions')
  if (typeof http2Options !== 'object' || http2Options === null) {
    throw new Error('This version of @grpc/grpc-js keeps its HTTP/2 options elsewhere')
  }
  Object.assign(http2Options, { streamResetBurst: cancelledCallsPerSecond, streamResetRate: cancelledCallsPerSecond })
}

function bind(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound)
      else if (error.message.includes('EADDRINUSE'))
        reject(new Error(`port ${port} on ${host} is in use; choose another one with --port or PORT`, { cause: error }))
      else reject(new Error(`cannot listen on ${address}: ${reasonOf(error)}`, { cause: error }))
    })
  })
}

/** grpc-js wraps the system's error: "No address added …: [listen EADDRNOTAVAIL: …]". */
function reasonOf({ message }: Error): string {
  return /\[(.*)\]$/s.exec(message)?.[1] ?? message
}

/** With a timeout, because a client that does not read would delay the shutdown for ever. */
function shutDown(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown()
      resolve()
    }, stopTimeoutMs)
    server.tryShutdown(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
