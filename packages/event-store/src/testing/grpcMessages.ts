// Builders for the messages of EventStoreDB's gRPC protocol.
import { randomUUID } from 'node:crypto'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import statusPb from '@eventstore/db-client/generated/status_pb.js'
import streams, {
  type BatchAppendReq,
  type BatchAppendResp,
  type ReadResp,
} from '@eventstore/db-client/generated/streams_pb.js'
import anyPb from 'google-protobuf/google/protobuf/any_pb.js'
import { identifierOf } from '../read/requests.ts'

/** An event of a test's log; `number` is its revision and its position. */
export type ScriptedEvent = {
  readonly stream: string
  readonly number: number
  readonly bytes?: number
  readonly type?: string
}

/** The id of the event with this number, the same for every read. */
const eventId = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`

export function eventMessage({ stream, number, bytes = 0, type = 'GuestTokenSeen' }: ScriptedEvent): ReadResp {
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
  recorded.setId(uuidMessage(eventId(number)))
  recorded.setStreamIdentifier(identifierOf(stream))
  recorded.setStreamRevision(String(number))
  recorded.setCommitPosition(String(number))
  recorded.setPreparePosition(String(number))
  recorded.getMetadataMap().set('type', type)
  recorded.getMetadataMap().set('content-type', 'application/json')
  recorded.getMetadataMap().set('created', '0')
  const metadata = { $correlationId: 'c'.repeat(Math.max(1, bytes)), $causationId: 'c', actor: 'anonymous', schema: 1 }
  recorded.setCustomMetadata(Buffer.from(JSON.stringify(metadata)))
  const data = { guest_email: 'guest@example.com', occurred_at: '2026-01-01T00:00:00.000Z' }
  recorded.setData(Buffer.from(JSON.stringify(data)))
  const event = new streams.ReadResp.ReadEvent()
  event.setEvent(recorded)
  event.setCommitPosition(String(number))
  return new streams.ReadResp().setEvent(event)
}

export function confirmationMessage(): ReadResp {
  const confirmation = new streams.ReadResp.SubscriptionConfirmation()
  confirmation.setSubscriptionId(randomUUID())
  return new streams.ReadResp().setConfirmation(confirmation)
}

/** @param revision of the last appended event */
export function successReply(request: BatchAppendReq, revision: number): BatchAppendResp {
  const success = new streams.BatchAppendResp.Success()
  success.setCurrentRevision(String(revision))
  const position = new shared.AllStreamPosition()
  position.setCommitPosition('7')
  position.setPreparePosition('7')
  success.setPosition(position)
  return replyTo(request).setSuccess(success)
}

/** @param type such as `event_store.client.Timeout` */
export function failureReply(request: BatchAppendReq, code: number, type: string): BatchAppendResp {
  const details = new anyPb.Any()
  details.setTypeUrl(`type.googleapis.com/${type}`)
  const error = new statusPb.Status()
  error.setCode(code)
  error.setDetails(details)
  return replyTo(request).setError(error)
}

export function wrongVersionReply(request: BatchAppendReq, current: number): BatchAppendResp {
  const version = new shared.WrongExpectedVersion()
  version.setCurrentStreamRevision(String(current))
  const reply = failureReply(request, 6, 'event_store.client.WrongExpectedVersion')
  reply.getError()?.getDetails()?.setValue(version.serializeBinary())
  return reply
}

/** A response to an append that was never sent. */
export function strayReply(request: BatchAppendReq): BatchAppendResp {
  return successReply(request, 0).setCorrelationId(uuidMessage(randomUUID()))
}

function replyTo(request: BatchAppendReq): BatchAppendResp {
  const reply = new streams.BatchAppendResp()
  reply.setCorrelationId(request.getCorrelationId())
  reply.setStreamIdentifier(request.getOptions()?.getStreamIdentifier() ?? identifierOf(''))
  return reply
}

function uuidMessage(text: string) {
  const message = new shared.UUID()
  message.setString(text)
  return message
}
