// Writes the missing events of the source to the target, one append at a time, so that their order is certain.

import { setTimeout as sleep } from 'node:timers/promises'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams, { type AppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import { isAfter, type LogPosition } from '@paylog/domain/events'
import { type Attempt, call, LogUnusableError, type RawClient } from '../connection/calls.ts'
import { describeEvent, isTombstone, originalStreamOf, type RawEvent } from '../read/rawEvent.ts'
import { readEvents } from '../read/readPage.ts'
import { readStreamMetadata } from '../read/reads.ts'
import { identifierOf } from '../read/requests.ts'
import { compareWith, copiedEvents, type LogComparison, LogDifferenceError } from './comparison.ts'

/**
 * Appends events of one stream at exactly their revisions. Safe to repeat: the server recognises the ids at these revisions.
 * @param events at least one, consecutive
 * @returns `'conflict'` when the target's stream is at another revision
 * @throws LogUnusableError
 */
export async function appendRaw(client: RawClient, events: readonly RawEvent[]): Promise<'written' | 'conflict'> {
  const [first] = events
  if (first === undefined) throw new Error('Nothing to append')
  const requests = [appendOptions(first), ...events.map(proposed)]
  return await write(
    client,
    (stub, args) =>
      new Promise<'written' | 'conflict'>((resolve, reject) => {
        const appending = stub.append(...args, (error, reply) => {
          if (error) reject(error)
          else resolve(reply.hasWrongExpectedVersion() ? 'conflict' : 'written')
        })
        for (const request of requests) appending.write(request)
        appending.end()
      }),
  ).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new LogUnusableError(`${reason} (while writing ${describeEvent(first)})`, { cause: error })
  })
}

const write = <T>(client: RawClient, attempt: Attempt<T>) => call(client, attempt, client.timeoutMs)

/** Soft-deletes a stream, unless its metadata is at `revision` already: then an earlier attempt has deleted it. */
export async function deleteRaw(client: RawClient, stream: string, revision: bigint): Promise<void> {
  const options = new streams.DeleteReq.Options()
  options.setStreamIdentifier(identifierOf(stream))
  options.setAny(new shared.Empty())
  const request = new streams.DeleteReq().setOptions(options)
  await write(client, async (stub, args) => {
    const last = await readStreamMetadata(client, stream)
    if (last !== undefined && last.revision >= revision) return
    await new Promise<void>((resolve, reject) => {
      stub.delete(request, ...args, (error) => (error ? reject(error) : resolve()))
    })
  })
}

/** Closes a stream for good, unless it is closed already. */
export async function tombstoneRaw(client: RawClient, stream: string): Promise<void> {
  const options = new streams.TombstoneReq.Options()
  options.setStreamIdentifier(identifierOf(stream))
  options.setAny(new shared.Empty())
  const request = new streams.TombstoneReq().setOptions(options)
  await write(
    client,
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

/** Well below EventStoreDB's limit of 1 MiB per append; KurrentDB counts more than the data. */
const groupBytes = 512 << 10
const groupEvents = 500
/** EventStoreDB writes the metadata event that restores a stream shortly after its response. */
const generatedEventTimeoutMs = 5_000
const pollMs = 5

export type CopyEventsOptions = {
  readonly source: RawClient
  readonly target: RawClient
  /** The last position to copy; undefined when there is no event. */
  readonly until: LogPosition | undefined
  readonly onEvent: (event: RawEvent) => void
}

/**
 * Copies one append at a time, so that the order is the source's. Consecutive events of a stream share an append.
 * @throws LogDifferenceError when the target does not start like the source; events after the source's end are not checked
 */
export async function copyEvents(options: CopyEventsOptions): Promise<{ copied: number; alreadyThere: number }> {
  const { source, target, until, onEvent } = options
  const comparison = compareWith(readEvents(target))
  const writer = createWriter(target, comparison)
  let total = 0
  let alreadyThere = 0
  let isBehindTarget = true
  for await (const event of copiedEvents(readEvents(source))) {
    if (until === undefined || isAfter(event.position, until)) break
    total += 1
    onEvent(event)
    if (writer.tryAdd(event)) continue
    await writer.flush()
    const isThere = (await comparison.counterpart(event)) !== undefined
    if (isThere && isBehindTarget) alreadyThere += 1
    if (isThere) continue
    if (isBehindTarget) {
      isBehindTarget = false
      // After an interrupted copy, the target's server may still have to generate events.
      if (await writer.waitForGeneratedEvents(comparison.softDeletions.pendingStreams(), event)) continue
    }
    await writer.take(event)
  }
  await writer.flush()
  return { copied: total - alreadyThere, alreadyThere }
}

function createWriter(target: RawClient, comparison: LogComparison) {
  const { softDeletions } = comparison
  let group: RawEvent[] = []
  let bytes = 0

  /** Waits for the metadata event that restores a stream, so that no copied event is recorded before it. */
  async function waitForGeneratedEvent(stream: string): Promise<void> {
    const revision = softDeletions.pendingRevision(stream)
    const giveUpAt = performance.now() + generatedEventTimeoutMs
    for (; performance.now() < giveUpAt; await sleep(pollMs)) {
      const last = await readStreamMetadata(target, stream)
      if (last !== undefined && last.revision === revision) return comparison.recordGenerated(last)
    }
    // The target does not treat the stream as deleted, so it generates no event.
    softDeletions.forget(stream)
  }

  async function writeGroup(events: readonly RawEvent[]): Promise<void> {
    const last = events.at(-1)
    if (last === undefined) return
    if (isTombstone(last)) await tombstoneRaw(target, last.stream)
    else if (softDeletions.isRepeatedDeletion(last)) {
      await deleteRaw(target, originalStreamOf(last.stream) ?? last.stream, last.revision)
    } else if ((await appendRaw(target, events)) === 'conflict') {
      throw new LogDifferenceError(`The target rejects ${describeEvent(last)}: its stream is at another revision`)
    }
    for (const event of events) comparison.recordWritten(event)
    const stream = softDeletions.restoredStream(last)
    if (stream !== undefined) await waitForGeneratedEvent(stream)
  }

  return {
    /** Adds the event to the pending append, if it fits. */
    tryAdd(event: RawEvent): boolean {
      const isNext =
        group.at(-1)?.stream === event.stream && !isTombstone(event) && originalStreamOf(event.stream) === undefined
      if (!isNext || group.length >= groupEvents || bytes + sizeOf(event) > groupBytes) return false
      group.push(event)
      bytes += sizeOf(event)
      return true
    },
    async take(event: RawEvent): Promise<void> {
      if (isTombstone(event) || originalStreamOf(event.stream) !== undefined) return await writeGroup([event])
      group = [event]
      bytes = sizeOf(event)
    },
    async flush(): Promise<void> {
      const events = group
      group = []
      await writeGroup(events)
    },
    /** @returns whether the event was among the generated ones */
    async waitForGeneratedEvents(streams: readonly string[], event: RawEvent): Promise<boolean> {
      for (const stream of streams) await waitForGeneratedEvent(stream)
      return streams.length > 0 && (await comparison.counterpart(event)) !== undefined
    },
  }
}

/** Size of an event as the strictest server counts it. */
const sizeOf = ({ data, metadata, type }: RawEvent) => data.length + metadata.length + 2 * type.length
