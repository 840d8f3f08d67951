// Appends events as they were recorded elsewhere, one append at a time, so that their order is certain.
import shared from '@eventstore/db-client/generated/shared_pb.js'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams, { type AppendReq, type AppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import { type CallArguments, call, LogUnusableError, type RawClient } from '../connection/calls.ts'
import { describeEvent, type RawEvent } from '../read/rawEvent.ts'
import { identifierOf } from '../read/requests.ts'
import { LogDifferenceError } from './comparison.ts'

/** Well below EventStoreDB's limit of 1 MiB per append; KurrentDB counts more than the data. */
const groupBytes = 512 << 10
const groupEvents = 500

/** Consecutive events of a stream share an append. Its functions throw the errors of `appendRaw`. */
export function createRawWriter(target: RawClient) {
  let group: RawEvent[] = []
  let bytes = 0

  async function flush(): Promise<void> {
    if (group.length > 0) await appendRaw(target, group)
    group = []
    bytes = 0
  }
  return {
    async add(event: RawEvent): Promise<void> {
      const last = group.at(-1)
      const isNext = last?.stream === event.stream && last.revision + 1n === event.revision
      if (!isNext || group.length >= groupEvents || bytes + sizeOf(event) > groupBytes) await flush()
      group.push(event)
      bytes += sizeOf(event)
    },
    flush,
  }
}

/** Size of an event as the strictest server counts it. */
const sizeOf = ({ data, metadata, type }: RawEvent) => data.length + metadata.length + 2 * type.length

/**
 * Appends events of one stream at exactly their revisions. Safe to repeat: the server recognises the ids at these revisions.
 * @param events at least one, consecutive
 * @throws LogDifferenceError when the stream is at another revision; LogUnusableError
 */
export async function appendRaw(target: RawClient, events: readonly RawEvent[]): Promise<void> {
  const [first] = events
  if (first === undefined) throw new Error('Nothing to append')
  const requests = [appendOptions(first), ...events.map(proposed)]
  const reply = await call(target, (stub, args) => append(stub, args, requests), target.timeoutMs).catch(
    (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      throw new LogUnusableError(`${reason} (while writing ${describeEvent(first)})`, { cause: error })
    },
  )
  if (!reply.hasWrongExpectedVersion()) return
  throw new LogDifferenceError(
    `${target.name} rejects ${describeEvent(first)}: earlier events of its stream are missing, as after a scavenge of the ` +
      'source, or somebody else writes to it',
  )
}

const append = (stub: StreamsClient, args: CallArguments, requests: readonly AppendReq[]) =>
  new Promise<AppendResp>((resolve, reject) => {
    const appending = stub.append(...args, (error, reply) => (error ? reject(error) : resolve(reply)))
    for (const request of requests) appending.write(request)
    appending.end()
  })

function appendOptions({ stream, revision }: RawEvent): AppendReq {
  const options = new streams.AppendReq.Options().setStreamIdentifier(identifierOf(stream))
  if (revision === 0n) options.setNoStream(new shared.Empty())
  else options.setRevision(String(revision - 1n))
  return new streams.AppendReq().setOptions(options)
}

function proposed({ id, type, contentType, data, metadata }: RawEvent): AppendReq {
  const message = new streams.AppendReq.ProposedMessage()
  message.setId(new shared.UUID().setString(id)).setData(data).setCustomMetadata(metadata)
  message.getMetadataMap().set('type', type).set('content-type', contentType)
  return new streams.AppendReq().setProposedMessage(message)
}
