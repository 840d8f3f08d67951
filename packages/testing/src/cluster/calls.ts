// Passes the calls of clients on to the log as bytes, or answers them as a real node answers that does not lead.
import shared from '@eventstore/db-client/generated/shared_pb.js'
import statusPb from '@eventstore/db-client/generated/status_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import {
  type Client,
  type ClientDuplexStream,
  Metadata,
  type ServerDuplexStream,
  type StatusObject,
  status,
} from '@grpc/grpc-js'
import anyPb from 'google-protobuf/google/protobuf/any_pb.js'

/** The leader that a node knows, and whether a majority follows it: without one, appends wait. */
export type Standing = {
  readonly leader: 'itself' | { readonly port: number } | undefined
  readonly hasMajority: boolean
}

/** Always bytes; the type is the one that Node's pipes have. */
type Message = Uint8Array | string
export type Call = ServerDuplexStream<Message, Message>

/** Serializer and deserializer of messages that stay bytes. */
export const asIs = (bytes: Message): Buffer => bytes as Buffer

const service = '/event_store.client.streams.Streams'
const batchAppend = `${service}/BatchAppend`
const writes = new Set([batchAppend, `${service}/Append`, `${service}/Delete`, `${service}/Tombstone`])
/** KurrentDB's time for an append to be replicated. */
const commitTimeoutMs = 2_000
const waitingPollMs = 10

/** The end of a call. In a batch, an append is refused by a `reply` instead, if there is one. */
type Refusal = {
  readonly end: Pick<StatusObject, 'code' | 'details' | 'metadata'>
  readonly reply?: { readonly code: number; readonly message: string; readonly type: string }
}

const notReady: Refusal = {
  end: { code: status.UNAVAILABLE, details: 'Server Is Not Ready', metadata: new Metadata() },
  // A status of code 0 is what KurrentDB sends.
  reply: { code: 0, message: 'Server Is Not Ready', type: 'google.protobuf.Empty' },
}
const timedOut: Refusal = {
  end: { code: status.ABORTED, details: 'Operation timed out: Commit phase timeout.', metadata: new Metadata() },
  reply: { code: status.DEADLINE_EXCEEDED, message: 'Timeout', type: 'event_store.client.Timeout' },
}

function notLeader(port: number): Refusal {
  const metadata = new Metadata()
  metadata.set('exception', 'not-leader')
  metadata.set('leader-endpoint-host', '127.0.0.1')
  metadata.set('leader-endpoint-port', String(port))
  return { end: { code: status.NOT_FOUND, details: 'Leader info available', metadata } }
}

/** Passes a call on or refuses it. As on a real node, a change of the leader ends no open call. */
export function handleCall(log: Client, standing: () => Standing, call: Call): void {
  const requiresLeader = call.metadata.get('requires-leader')[0] === 'true'
  const verdict = () => verdictOn(standing(), requiresLeader)
  const isWrite = writes.has(call.getPath())
  const first = requiresLeader && !isWrite ? verdict() : 'passes'
  if (typeof first === 'object') call.emit('error', first.end)
  else passOn(log, call, isWrite ? verdict : undefined)
}

type Verdict = 'passes' | 'waits' | Refusal

/** A follower forwards appends that do not require the leader. */
function verdictOn({ leader, hasMajority }: Standing, requiresLeader: boolean): Verdict {
  if (leader === undefined) return notReady
  if (leader !== 'itself' && requiresLeader) return notLeader(leader.port)
  return hasMajority ? 'passes' : 'waits'
}

/** Pipes a call to the log and back, with its metadata, deadline, status, trailers and cancellation. */
function passOn(log: Client, call: Call, verdict?: () => Verdict): void {
  const options = { deadline: call.getDeadline() }
  const upstream = log.makeBidiStreamRequest(call.getPath(), asIs, asIs, call.metadata, options)
  const result = Promise.withResolvers<StatusObject>()
  upstream
    .on('metadata', (metadata) => call.sendMetadata(metadata))
    .on('status', result.resolve)
    .on('error', () => {})
    // The status may arrive before the last messages were written.
    .on('end', async () => {
      const final = await result.promise
      if (final.code === status.OK) call.end(final.metadata)
      else call.emit('error', final)
    })
  call.on('cancelled', () => upstream.cancel())
  upstream.pipe(call, { end: false })
  if (verdict === undefined) call.pipe(upstream)
  else passWritesOn(call, upstream, verdict)
}

/** Judges each message of a write: it passes, waits for a majority, or is refused. */
function passWritesOn(call: Call, upstream: ClientDuplexStream<Message, Message>, verdict: () => Verdict): void {
  const waiting: { readonly message: Message; readonly giveUpAt: number; hasWaited: boolean }[] = []
  let hasEnded = false
  function review(): void {
    const now = verdict()
    for (let [next] = waiting; next !== undefined && !call.cancelled; [next] = waiting) {
      if (now === 'waits' && performance.now() < next.giveUpAt) {
        next.hasWaited = true
        setTimeout(review, waitingPollMs)
        return
      }
      waiting.shift()
      if (now === 'passes') write(next.message)
      else refuse(next.message, now === 'waits' || next.hasWaited ? timedOut : now)
    }
    if (hasEnded) upstream.end()
  }
  function write(message: Message): void {
    if (upstream.write(message)) return
    call.pause()
    upstream.once('drain', () => call.resume())
  }
  function refuse(message: Message, { end, reply }: Refusal): void {
    if (call.getPath() === batchAppend && reply !== undefined) {
      rejectAppend(call, message, reply)
      return
    }
    waiting.length = 0
    call.pause()
    upstream.unpipe(call)
    upstream.cancel()
    call.emit('error', end)
  }
  call.on('data', (message: Message) => {
    waiting.push({ message, giveUpAt: performance.now() + commitTimeoutMs, hasWaited: false })
    // Messages that wait are reviewed together, in their order.
    if (waiting.length === 1) review()
  })
  call.on('end', () => {
    hasEnded = true
    if (waiting.length === 0) upstream.end()
  })
}

function rejectAppend(
  call: Call,
  message: Message,
  { code, message: text, type }: NonNullable<Refusal['reply']>,
): void {
  const request = streams.BatchAppendReq.deserializeBinary(asIs(message))
  const stream = request.getOptions()?.getStreamIdentifier()
  // Only the first chunk of an append names its stream; the rejection of it is the only reply.
  if (stream === undefined) return
  const details = new anyPb.Any()
  details.setTypeUrl(`type.googleapis.com/${type}`)
  const error = new statusPb.Status()
  error.setCode(code)
  error.setMessage(text)
  error.setDetails(details)
  const reply = new streams.BatchAppendResp()
  reply.setCorrelationId(request.getCorrelationId() ?? new shared.UUID())
  reply.setStreamIdentifier(stream)
  reply.setError(error)
  call.write(Buffer.from(reply.serializeBinary()))
}
