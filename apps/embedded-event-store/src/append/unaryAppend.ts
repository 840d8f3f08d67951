// Streams/Append: options first, then one event per message.
import shared, { type StreamIdentifier } from '@eventstore/db-client/generated/shared_pb.js'
import type { AppendReq, AppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { sendUnaryData } from '@grpc/grpc-js'
import { maximumAppendSizeExceeded, tooManyPendingBytes, unknown } from '../protocol/callError.ts'
import { placedAt } from '../protocol/eventMessage.ts'
import { streamNameOf } from '../protocol/identifiers.ts'
import { createPendingBytes, type PendingBytes } from './pendingBytes.ts'
import { expectAny, expectNoStream, expectStreamExists, type ProposedEvent } from './proposal.ts'
import { countedBytesOf, pendingBytesOf, proposedEventOf, requiredMetadataOf } from './proposedMessage.ts'
import { type Call, callErrorOf, endWithError, expectedOf, submit } from './unaryCall.ts'
import type { Writer } from './writer.ts'

type Deps = {
  readonly writer: Writer
  readonly maxAppendBytes: number
  /** Memory budget of pending appends, for all calls together. */
  readonly held?: PendingBytes
}

/** The part of a gRPC call that is used here. */
type AppendCall = Call & {
  on(event: 'data', listener: (request: AppendReq) => void): unknown
  on(event: 'cancelled' | 'end', listener: () => void): unknown
}

/** Limit of one call's pending append. */
const maxPendingBytesPerCall = 64 << 20
const maxPendingBytes = 256 << 20

export function createAppend({ writer, maxAppendBytes, held = createPendingBytes(maxPendingBytes) }: Deps) {
  return (call: AppendCall, callback: sendUnaryData<AppendResp>): void => {
    // Handed over when complete, because a call without a reply may stay open for long.
    let collection: Collection | undefined = createCollection(maxAppendBytes, held)
    const drop = () => {
      collection?.release()
      collection = undefined
    }
    const fail = (error: unknown) => {
      drop()
      callback(callErrorOf(error))
    }
    call.on('cancelled', drop)
    call.on('data', (request) => {
      try {
        collection?.add(request)
      } catch (error) {
        fail(error)
      }
    })
    call.on('end', () => {
      if (collection === undefined) return
      const complete = collection
      collection = undefined
      respondToAppend(writer, call, complete).then((response) => callback(null, response), fail)
    })
  }
}

type Target = { readonly identifier: StreamIdentifier; readonly expected: bigint }

type Collection = {
  /** @throws CallError or BadRequestError for an unexpected or invalid message */
  add(request: AppendReq): void
  readonly target: Target | undefined
  readonly events: readonly ProposedEvent[]
  readonly heldBytes: number
  /** Releases the reserved bytes of the events. */
  release(): void
}

/** The messages of an append: its options, then its events. */
function createCollection(maxAppendBytes: number, held: PendingBytes): Collection {
  let target: Target | undefined
  let countedBytes = 0
  let heldBytes = 0
  let takenBytes = 0
  const events: ProposedEvent[] = []

  const addEvent = (message: AppendReq.ProposedMessage) => {
    requiredMetadataOf(message)
    countedBytes += countedBytesOf({ data: message.getData_asU8() })
    if (countedBytes > maxAppendBytes) throw maximumAppendSizeExceeded(maxAppendBytes)
    const event = proposedEventOf(message)
    const bytes = pendingBytesOf(event)
    if (heldBytes + bytes > maxPendingBytesPerCall || !held.take(bytes)) throw tooManyPendingBytes()
    takenBytes += bytes
    heldBytes += bytes
    events.push(event)
  }

  return {
    get target() {
      return target
    },
    events,
    get heldBytes() {
      return heldBytes
    },
    add(request) {
      const message = request.getProposedMessage()
      if (target === undefined) target = targetOf(request.getOptions())
      else if (message === undefined) throw unknown('Events must follow the options')
      else addEvent(message)
    },
    release() {
      held.release(takenBytes)
      takenBytes = 0
    },
  }
}

function targetOf(options: AppendReq.Options | undefined): Target {
  if (options === undefined) throw unknown('The first message must carry the options')
  const expected = expectedOf(options)
  const identifier = options.getStreamIdentifier()
  if (identifier === undefined) throw unknown('A stream identifier is required')
  return { identifier, expected }
}

async function respondToAppend(writer: Writer, call: Call, collection: Collection): Promise<AppendResp> {
  const { stream, expected, outcome } = await submitAppend(writer, call, collection).finally(collection.release)
  switch (outcome.kind) {
    case 'done':
      return appended(outcome.revision, outcome.position)
    case 'wrong_expected_version':
      return rejectedAppend(expected, outcome.current)
    default:
      return endWithError(stream, outcome)
  }
}

async function submitAppend(writer: Writer, call: Call, { target, events, heldBytes }: Collection) {
  if (target === undefined) throw unknown('The first message must carry the options')
  const stream = streamNameOf(target.identifier)
  const { expected } = target
  const outcome = await submit(writer, call, { kind: 'append', stream, expected, events }, heldBytes)
  return { stream, expected, outcome }
}

function appended(revision: bigint, position: bigint | undefined): AppendResp {
  const success = new streams.AppendResp.Success()
  if (revision < 0n) success.setNoStream(new shared.Empty())
  else success.setCurrentRevision(String(revision))
  if (position === undefined) success.setNoPosition(new shared.Empty())
  else success.setPosition(placedAt(new streams.AppendResp.Position(), position))
  return new streams.AppendResp().setSuccess(success)
}

function rejectedAppend(expected: bigint, current: bigint): AppendResp {
  const wrong = new streams.AppendResp.WrongExpectedVersion()
  if (current < 0n) wrong.setCurrentNoStream(new shared.Empty())
  else wrong.setCurrentRevision(String(current))
  if (expected === expectAny) wrong.setExpectedAny(new shared.Empty())
  else if (expected === expectNoStream) wrong.setExpectedNoStream(new shared.Empty())
  else if (expected === expectStreamExists) wrong.setExpectedStreamExists(new shared.Empty())
  else wrong.setExpectedRevision(String(expected))
  return new streams.AppendResp().setWrongExpectedVersion(wrong)
}
