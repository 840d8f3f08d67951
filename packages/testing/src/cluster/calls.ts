// Passes the calls of clients on to the log as bytes, or answers them as a node does that does not lead.

import { Transform } from 'node:stream'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import statusPb from '@eventstore/db-client/generated/status_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import { type Client, Metadata, type ServerDuplexStream, type StatusObject, status } from '@grpc/grpc-js'
import anyPb from 'google-protobuf/google/protobuf/any_pb.js'

/** What a node is at this moment. A leader that `waits` has no majority, so it acknowledges nothing. */
export type Standing =
  | { readonly role: 'leader'; readonly waits: boolean }
  | { readonly role: 'follower'; readonly leader: number }
  | { readonly role: 'leaderless' }

/** Always bytes; the type is the one that Node's pipes have. */
type Message = Uint8Array | string
type Call = ServerDuplexStream<Message, Message>

export type Calls = {
  handle(call: Call): void
  /** Ends what only a leader serves if this node is none, and lets appends go on if they no longer have to wait. */
  standingChanged(): void
}

const service = '/event_store.client.streams.Streams'
const batchAppend = `${service}/BatchAppend`
const writes = new Set([batchAppend, `${service}/Append`, `${service}/Delete`, `${service}/Tombstone`])

export function createCalls(log: Client, standing: () => Standing): Calls {
  /** Open calls that only a leader serves. */
  const leaderCalls = new Set<LeaderCall>()
  return {
    handle(call) {
      const isWrite = writes.has(call.getPath())
      if (!isWrite && call.metadata.get('requires-leader')[0] !== 'true') {
        passOn(log, call)
        return
      }
      const refusal = refusalOf(standing())
      // A real node looks at the messages of a batch one by one.
      if (refusal !== undefined && call.getPath() !== batchAppend) {
        call.emit('error', refusal)
        return
      }
      const gate = isWrite ? createGate(call, standing, (late) => end(late)) : undefined
      const end = passOn(log, call, gate?.stream, () => leaderCalls.delete(leaderCall))
      const leaderCall: LeaderCall = { end, proceed: () => gate?.proceed() }
      leaderCalls.add(leaderCall)
    },
    standingChanged() {
      const refusal = refusalOf(standing())
      for (const { end, proceed } of [...leaderCalls]) {
        if (refusal === undefined) proceed()
        else end(refusal)
      }
    },
  }
}

type LeaderCall = { readonly end: (refusal: Refusal) => void; readonly proceed: () => void }

type Refusal = Pick<StatusObject, 'code' | 'details' | 'metadata'>

const notReady = 'Server Is Not Ready'

function refusalOf(standing: Standing): Refusal | undefined {
  if (standing.role === 'leader') return undefined
  const metadata = new Metadata()
  if (standing.role === 'leaderless') return { code: status.UNAVAILABLE, details: notReady, metadata }
  metadata.set('exception', 'not-leader')
  metadata.set('leader-endpoint-host', '127.0.0.1')
  metadata.set('leader-endpoint-port', String(standing.leader))
  return { code: status.NOT_FOUND, details: 'Leader info available', metadata }
}

/**
 * Pipes a call to the log and back, with its metadata, deadline, status, trailers and cancellation.
 * @returns ends both sides with a status
 */
function passOn(log: Client, call: Call, gate?: Transform, ended: () => void = () => {}): (refusal: Refusal) => void {
  const options = { deadline: call.getDeadline() }
  const upstream = log.makeBidiStreamRequest(call.getPath(), asIs, asIs, call.metadata, options)
  let isOpen = true
  const close = () => {
    isOpen = false
    ended()
    gate?.destroy()
  }
  const result = Promise.withResolvers<StatusObject>()
  upstream
    .on('metadata', (metadata) => call.sendMetadata(metadata))
    .on('status', result.resolve)
    .on('error', () => {})
    // The status may arrive before the last messages were written.
    .on('end', async () => {
      const final = await result.promise
      if (!isOpen) return
      close()
      if (final.code === status.OK) call.end(final.metadata)
      else call.emit('error', final)
    })
  call.on('cancelled', () => {
    close()
    upstream.cancel()
  })
  if (gate === undefined) call.pipe(upstream)
  else call.pipe(gate).pipe(upstream)
  upstream.pipe(call, { end: false })
  return (refusal) => {
    if (!isOpen) return
    close()
    upstream.unpipe(call)
    upstream.cancel()
    call.emit('error', refusal)
  }
}

/** Serializer and deserializer of messages that stay bytes. */
export const asIs = (bytes: Message): Buffer => bytes as Buffer

/** Lets the messages of a write through while this node leads with a majority, and holds them back while it waits. */
function createGate(
  call: Call,
  standing: () => Standing,
  end: (refusal: Refusal) => void,
): { readonly stream: Transform; readonly proceed: () => void } {
  let proceed: () => void = () => {}
  const stream = new Transform({
    objectMode: true,
    transform(message: Buffer, encoding, done) {
      const now = standing()
      const refusal = refusalOf(now)
      if (now.role === 'leader' && now.waits) {
        proceed = () => {
          proceed = () => {}
          stream._transform(message, encoding, done)
        }
      } else if (refusal === undefined) done(null, message)
      else if (now.role === 'follower') end(refusal)
      else {
        rejectAppend(call, message)
        done()
      }
    },
  })
  return { stream, proceed: () => proceed() }
}

/** A real node without a leader keeps the batch open, and rejects each append in it with a status of code 0. */
function rejectAppend(call: Call, message: Buffer): void {
  const request = streams.BatchAppendReq.deserializeBinary(message)
  const stream = request.getOptions()?.getStreamIdentifier()
  // Only the first chunk of an append names its stream; the rejection of it is the only reply.
  if (stream === undefined) return
  const details = new anyPb.Any()
  details.setTypeUrl('type.googleapis.com/google.protobuf.Empty')
  const error = new statusPb.Status()
  error.setMessage(notReady)
  error.setDetails(details)
  const reply = new streams.BatchAppendResp()
  reply.setCorrelationId(request.getCorrelationId() ?? new shared.UUID())
  reply.setStreamIdentifier(stream)
  reply.setError(error)
  call.write(Buffer.from(reply.serializeBinary()))
}
