// A server of EventStoreDB's protocol that misbehaves as a test tells it to.
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
import {
  checkpointMessage,
  confirmationMessage,
  eventMessage,
  type ScriptedEvent,
  successReply,
} from './grpcMessages.ts'

export type BatchCall = ServerDuplexStream<BatchAppendReq, BatchAppendResp>
export type ReadCall = ServerWritableStream<ReadReq, ReadResp>

/** What the server does with the nth call of a kind, from 1; what is not told is done properly. */
export type FakeEventStoreBehaviour = {
  readonly supportedMethods?: (answer: sendUnaryData<SupportedMethods>, nth: number) => void
  /** Called for each message; the call is the nth. */
  readonly append?: (call: BatchCall, request: BatchAppendReq, nth: number) => void
  readonly subscription?: (call: ReadCall, nth: number, properly: () => void) => void
  readonly read?: (call: ReadCall, nth: number, properly: () => void) => void
}

export type FakeEventStore = {
  readonly port: number
  readonly connectionString: string
  /** Every append that arrived: its stream, its events' ids, what it expects. */
  readonly appends: readonly ReceivedAppend[]
  /** Reads, subscriptions and batch streams that are open at the moment. */
  openCalls(): number
  /** Where each subscription wanted to begin, `commit/prepare`. */
  readonly subscribedAfter: readonly string[]
}

export type ReceivedAppend = {
  readonly stream: string
  readonly ids: readonly string[]
  readonly expected: string
  readonly deadline: Date | undefined
}

/** What one connection may have open at once: few, so that a test can exceed it. */
export const callsPerConnection = 4

/** Starts a server that holds `log`, which may grow, and ends with the test. Its port is a free one unless it is given. */
export async function startFakeEventStore(
  t: Test,
  {
    log = [],
    port: wanted = 0,
    ...behaviour
  }: FakeEventStoreBehaviour & { readonly log?: readonly ScriptedEvent[]; readonly port?: number } = {},
): Promise<FakeEventStore> {
  const open = new Set<object>()
  const appends: ReceivedAppend[] = []
  const subscribedAfter: string[] = []
  const calls = { supportedMethods: 0, append: 0, subscription: 0, read: 0 }
  const keepTrack = (call: BatchCall | ReadCall) => {
    open.add(call)
    for (const event of ['cancelled', 'close', 'end']) call.on(event, () => open.delete(call))
  }
  const server = new Server({ 'grpc.max_concurrent_streams': callsPerConnection })
  server.addService(serverFeaturesGrpc.ServerFeaturesService, {
    getSupportedMethods(_call: unknown, answer: sendUnaryData<SupportedMethods>) {
      const nth = ++calls.supportedMethods
      if (behaviour.supportedMethods) behaviour.supportedMethods(answer, nth)
      else answer(null, supportedMethods())
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
      if (call.request.getOptions()?.hasSubscription()) {
        const after = call.request.getOptions()?.getAll()?.getPosition()
        subscribedAfter.push(after ? `${after.getCommitPosition()}/${after.getPreparePosition()}` : 'start')
        const properly = () => subscribe(call, log)
        if (behaviour.subscription) behaviour.subscription(call, ++calls.subscription, properly)
        else properly()
      } else {
        const properly = () => read(call, log)
        if (behaviour.read) behaviour.read(call, ++calls.read, properly)
        else properly()
      }
    },
    append: (_call: ServerReadableStream<AppendReq, AppendResp>, answer: sendUnaryData<AppendResp>) =>
      answer(grpcError(status.UNIMPLEMENTED)),
    delete: (_call: unknown, answer: sendUnaryData<never>) => answer(grpcError(status.UNIMPLEMENTED)),
    tombstone: (_call: unknown, answer: sendUnaryData<never>) => answer(grpcError(status.UNIMPLEMENTED)),
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${wanted}`, ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error)
      else resolve(bound)
    })
  })
  t.teardown(() => server.forceShutdown())
  const connectionString = `esdb://127.0.0.1:${port}?tls=false`
  return { port, connectionString, appends, subscribedAfter, openCalls: () => open.size }
}

export function supportedMethods(): SupportedMethods {
  const method = new serverFeatures.SupportedMethod()
  method.setServiceName('event_store.client.streams.streams')
  method.setMethodName('batchappend')
  const response = new serverFeatures.SupportedMethods()
  response.addMethods(method)
  return response
}

/** A status to end a call with: `answer(…)` of a unary call, `call.emit('error', …)` of a stream. */
export function grpcError(code: status, trailers: Readonly<Record<string, string>> = {}) {
  const metadata = new Metadata()
  for (const [key, value] of Object.entries(trailers)) metadata.set(key, value)
  return Object.assign(new Error(`refused with ${status[code]}`), { code, details: 'on purpose', metadata })
}

/**
 * That all the server ever got is one append, the same each time.
 * @param attempts how often, if that is sure
 */
export function assertOneAppend(t: Test, { appends }: FakeEventStore, attempts?: number): void {
  if (attempts !== undefined) t.equal(appends.length, attempts, 'attempts')
  t.equal(new Set(appends.map(({ stream, ids, expected }) => `${stream} ${ids} ${expected}`)).size, 1, 'all the same')
}

/** Sends what matches, a checkpoint at the end of the log, and stays. */
function subscribe(call: ReadCall, log: readonly ScriptedEvent[]): void {
  const options = call.request.getOptions()
  const prefixes = options?.getFilter()?.getStreamIdentifier()?.getPrefixList() ?? ['']
  const after = Number(options?.getAll()?.getPosition()?.getCommitPosition() ?? -1)
  call.write(confirmationMessage())
  for (const event of log) {
    if (event.number > after && prefixes.some((prefix) => event.stream.startsWith(prefix)))
      call.write(eventMessage(event))
  }
  const last = BigInt(log.at(-1)?.number ?? 0)
  if (last > after) call.write(checkpointMessage({ commit: last, prepare: last }))
}

function read(call: ReadCall, log: readonly ScriptedEvent[]): void {
  const options = call.request.getOptions()
  const count = Number(options?.getCount())
  const from = Number(options?.getAll()?.getPosition()?.getCommitPosition() ?? 0)
  const stream = streamOf(options?.getStream()?.getStreamIdentifier()?.getStreamName_asU8())
  const chosen = stream ? log.filter((event) => event.stream === stream) : log.filter(({ number }) => number >= from)
  const inOrder = options?.getReadDirection() === 1 ? chosen.toReversed() : chosen
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

// A server that sends a subscription all it has, and that can be seen to be held back.

const eventBytes = 2_000

export type Flood = {
  /** What the server does with the subscription. */
  subscription(call: ReadCall): Promise<void>
  sent(): number
  /** Whether it could not send for so many looks in a row, this one among them. */
  isBackpressured(looks: number): boolean
}

/** So many events of one stream, as fast as they are taken. */
export function createFlood(stream: string, total: number): Flood {
  let sent = 0
  let isFull = false
  let last = -1
  let unchanged = 0
  return {
    async subscription(call) {
      call.write(confirmationMessage())
      while (sent < total && !call.cancelled) {
        isFull = !call.write(eventMessage({ stream, number: ++sent, bytes: eventBytes }))
        if (isFull) await new Promise((resolve) => call.once('drain', resolve))
        else if (sent % 100 === 0) await new Promise(setImmediate)
      }
    },
    sent: () => sent,
    isBackpressured(looks) {
      unchanged = isFull && sent === last ? unchanged + 1 : 0
      last = sent
      return unchanged === looks
    },
  }
}
