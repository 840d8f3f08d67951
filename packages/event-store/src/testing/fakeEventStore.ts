// A server of EventStoreDB's gRPC protocol whose misbehaviour a test controls.
import serverFeaturesGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import serverFeatures, { type SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js'
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
  ReadReq,
  ReadResp,
} from '@eventstore/db-client/generated/streams_pb.js'
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js'
import type { Test } from 'tap'
import { confirmationMessage, eventMessage, type ScriptedEvent, successReply } from './grpcMessages.ts'

export type BatchCall = ServerDuplexStream<BatchAppendReq, BatchAppendResp>
export type ReadCall = ServerWritableStream<ReadReq, ReadResp>

/** The server's behaviour for the nth call of a kind, counted from 1. Default: a normal response. */
export type FakeEventStoreBehaviour = {
  readonly supportedMethods?: (respond: sendUnaryData<SupportedMethods>, nth: number) => void
  /** Called for each message of a call; `nth` counts the calls. */
  readonly append?: (call: BatchCall, request: BatchAppendReq, nth: number) => void
  readonly subscription?: (call: ReadCall, nth: number, respondNormally: () => void) => void
  readonly read?: (call: ReadCall, nth: number, respondNormally: () => void) => void
}

export type FakeEventStore = {
  readonly port: number
  readonly connectionString: string
  /** Every append that arrived. */
  readonly appends: readonly ReceivedAppend[]
  /** The number of open reads, subscriptions and append streams. */
  openCalls(): number
  /** The start position of each forwards read of the log, `commit/prepare`. */
  readonly readAfter: readonly string[]
}

export type ReceivedAppend = {
  readonly stream: string
  readonly ids: readonly string[]
  readonly expected: string
  readonly deadline: Date | undefined
}

/** Limit of concurrent calls per connection, low enough for a test to exceed it. */
export const callsPerConnection = 4

/** Starts a server that serves `log`, which may grow, and stops with the test. The default port is a free one. */
export async function startFakeEventStore(
  t: Test,
  {
    log = [],
    port: requestedPort = 0,
    ...behaviour
  }: FakeEventStoreBehaviour & { readonly log?: readonly ScriptedEvent[]; readonly port?: number } = {},
): Promise<FakeEventStore> {
  const open = new Set<object>()
  const appends: ReceivedAppend[] = []
  const readAfter: string[] = []
  const calls = { supportedMethods: 0, append: 0, subscription: 0, read: 0 }
  const keepTrack = (call: BatchCall | ReadCall) => {
    open.add(call)
    for (const event of ['cancelled', 'close', 'end']) call.on(event, () => open.delete(call))
  }
  const server = new Server({ 'grpc.max_concurrent_streams': callsPerConnection })
  server.addService(serverFeaturesGrpc.ServerFeaturesService, {
    getSupportedMethods(_call: unknown, respond: sendUnaryData<SupportedMethods>) {
      const nth = ++calls.supportedMethods
      if (behaviour.supportedMethods) behaviour.supportedMethods(respond, nth)
      else respond(null, supportedMethods())
    },
  })
  server.addService(streamsGrpc.StreamsService, {
    batchAppend(call: BatchCall) {
      const nth = ++calls.append
      keepTrack(call)
      call.on('data', (request: BatchAppendReq) => {
        appends.push(received(request))
        if (behaviour.append) behaviour.append(call, request, nth)
        else call.write(successReply(request, 0))
      })
      call.on('end', () => call.end())
    },
    read(call: ReadCall) {
      keepTrack(call)
      const options = call.request.getOptions()
      if (options?.hasSubscription()) {
        const respondNormally = () => announce(call, log)
        if (behaviour.subscription) behaviour.subscription(call, ++calls.subscription, respondNormally)
        else respondNormally()
      } else {
        const after = options?.getAll()?.getPosition()
        if (options?.hasAll() && options.getReadDirection() === 0)
          readAfter.push(after ? `${after.getCommitPosition()}/${after.getPreparePosition()}` : 'start')
        const respondNormally = () => read(call, log)
        if (behaviour.read) behaviour.read(call, ++calls.read, respondNormally)
        else respondNormally()
      }
    },
    append: (_call: ServerReadableStream<AppendReq, AppendResp>, respond: sendUnaryData<AppendResp>) =>
      respond(grpcError(status.UNIMPLEMENTED)),
    delete: (_call: unknown, respond: sendUnaryData<never>) => respond(grpcError(status.UNIMPLEMENTED)),
    tombstone: (_call: unknown, respond: sendUnaryData<never>) => respond(grpcError(status.UNIMPLEMENTED)),
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${requestedPort}`, ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error)
      else resolve(bound)
    })
  })
  t.teardown(() => server.forceShutdown())
  const connectionString = `esdb://127.0.0.1:${port}?tls=false`
  return { port, connectionString, appends, readAfter, openCalls: () => open.size }
}

export function supportedMethods(): SupportedMethods {
  const method = new serverFeatures.SupportedMethod()
  method.setServiceName('event_store.client.streams.streams')
  method.setMethodName('batchappend')
  const response = new serverFeatures.SupportedMethods()
  response.addMethods(method)
  return response
}

/** An error status for a unary response, or for `call.emit('error', …)` of a stream. */
export function grpcError(code: status, trailers: Readonly<Record<string, string>> = {}) {
  const metadata = new Metadata()
  for (const [key, value] of Object.entries(trailers)) metadata.set(key, value)
  return Object.assign(new Error(`failed with ${status[code]}`), { code, details: 'planned by the test', metadata })
}

/**
 * Asserts that the server received only repetitions of one append.
 * @param attempts their number, if it is certain
 */
export function assertOneAppend(t: Test, { appends }: FakeEventStore, attempts?: number): void {
  if (attempts !== undefined) t.equal(appends.length, attempts, 'attempts')
  t.equal(
    new Set(appends.map(({ stream, ids, expected }) => `${stream} ${ids} ${expected}`)).size,
    1,
    'all attempts are the same append',
  )
}

/** Sends what is added to the log, until the call ends. */
function announce(call: ReadCall, log: readonly ScriptedEvent[]): void {
  call.write(confirmationMessage())
  let sent = log.length
  const timer = setInterval(() => {
    if (call.cancelled) return clearInterval(timer)
    for (const event of log.slice(sent)) call.write(eventMessage(event))
    sent = log.length
  }, 5)
  timer.unref()
}

function read(call: ReadCall, log: readonly ScriptedEvent[]): void {
  const options = call.request.getOptions()
  const count = Number(options?.getCount())
  const prefixes = options?.getFilter()?.getStreamIdentifier()?.getPrefixList() ?? ['']
  const isBackwards = options?.getReadDirection() === 1
  const from = Number(
    options?.getAll()?.getPosition()?.getCommitPosition() ?? (isBackwards ? Number.MAX_SAFE_INTEGER : 0),
  )
  const stream = streamOf(options?.getStream()?.getStreamIdentifier()?.getStreamName_asU8())
  const revision = Number(options?.getStream()?.getRevision() ?? 0)
  const isInRange = ({ number }: ScriptedEvent) => (isBackwards ? number < from : number >= from)
  const chosen = stream
    ? log.filter((event) => event.stream === stream && (isBackwards || event.number >= revision))
    : log.filter((event) => isInRange(event) && prefixes.some((prefix) => event.stream.startsWith(prefix)))
  const inOrder = isBackwards ? chosen.toReversed() : chosen
  for (const event of inOrder.slice(0, count)) call.write(eventMessage(event))
  call.end()
}

function received(request: BatchAppendReq): ReceivedAppend {
  const options = request.getOptions()
  return {
    stream: streamOf(options?.getStreamIdentifier()?.getStreamName_asU8()),
    ids: request.getProposedMessagesList().map((event) => event.getId()?.getString() ?? ''),
    expected: options?.hasNoStream() ? 'no_stream' : (options?.getStreamPosition() ?? ''),
    deadline: options?.getDeadline()?.toDate(),
  }
}

const streamOf = (name: Uint8Array | undefined) => Buffer.from(name ?? []).toString()
