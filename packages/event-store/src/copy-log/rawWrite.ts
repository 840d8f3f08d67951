// Writes events as their bytes, one append after the other: only so is their order in the log certain.
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams, { type AppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import { LogUnusableError, type RawClient } from '../raw/rawClient.ts'
import { describeEvent, type RawEvent } from '../raw/rawEvent.ts'
import { readStreamMetadata } from '../raw/rawRead.ts'
import { identifierOf } from '../raw/readRequest.ts'

/**
 * Appends events of one stream at exactly their revisions. Repeated without harm: the server knows the ids at these revisions.
 * @param events at least one, consecutive
 * @returns `'conflict'` when the stream on the target is not where it has to be
 * @throws LogUnusableError
 */
export async function appendRaw(client: RawClient, events: readonly RawEvent[]): Promise<'written' | 'conflict'> {
  const [first] = events
  if (first === undefined) throw new Error('There is nothing to append')
  const requests = [appendOptions(first), ...events.map(proposed)]
  return await client
    .call((stub, args) => {
      return new Promise<'written' | 'conflict'>((resolve, reject) => {
        const call = stub.append(...args, (error, reply) => {
          if (error) reject(error)
          else resolve(reply.hasWrongExpectedVersion() ? 'conflict' : 'written')
        })
        for (const request of requests) call.write(request)
        call.end()
      })
    })
    .catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      throw new LogUnusableError(`${reason} (while writing ${describeEvent(first)})`, { cause: error })
    })
}

/** Soft-deletes a stream by the server's own means, unless that has been done: its metadata is then at `revision`. */
export async function deleteRaw(client: RawClient, stream: string, revision: bigint): Promise<void> {
  const options = new streams.DeleteReq.Options()
  options.setStreamIdentifier(identifierOf(stream))
  options.setAny(new shared.Empty())
  const request = new streams.DeleteReq().setOptions(options)
  await client.call(async (stub, args) => {
    const last = await readStreamMetadata(client, stream)
    if (last !== undefined && last.revision >= revision) return
    await new Promise<void>((resolve, reject) => {
      stub.delete(request, ...args, (error) => (error ? reject(error) : resolve()))
    })
  })
}

/** Closes a stream for good, unless it is. */
export async function tombstoneRaw(client: RawClient, stream: string): Promise<void> {
  const options = new streams.TombstoneReq.Options()
  options.setStreamIdentifier(identifierOf(stream))
  options.setAny(new shared.Empty())
  const request = new streams.TombstoneReq().setOptions(options)
  await client.call(
    (stub, args) =>
      new Promise<void>((resolve, reject) => {
        stub.tombstone(request, ...args, (error) => {
          const isClosed = error?.metadata.get('exception')[0] === 'stream-deleted'
          if (error && !isClosed) reject(error)
          else resolve()
        })
      }),
  )
}

function appendOptions({ stream, revision }: RawEvent): AppendReq {
  const options = new streams.AppendReq.Options()
  options.setStreamIdentifier(identifierOf(stream))
  if (revision === 0n) options.setNoStream(new shared.Empty())
  else options.setRevision(String(revision - 1n))
  const request = new streams.AppendReq()
  request.setOptions(options)
  return request
}

function proposed(event: RawEvent): AppendReq {
  const id = new shared.UUID()
  id.setString(event.id)
  const message = new streams.AppendReq.ProposedMessage()
  message.setId(id)
  message.getMetadataMap().set('type', event.type).set('content-type', event.contentType)
  message.setData(event.data)
  message.setCustomMetadata(event.metadata)
  const request = new streams.AppendReq()
  request.setProposedMessage(message)
  return request
}
