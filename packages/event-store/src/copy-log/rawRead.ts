// Reads events as their bytes, page by page, so that every call is bounded in time and in memory.
import shared from '@eventstore/db-client/generated/shared_pb.js'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { isAfter, type LogPosition } from '../codec.ts'
import type { CallArguments, RawClient } from './rawClient.ts'
import { metastreamOf, type RawEvent } from './rawEvent.ts'

const pageEvents = 2_000
/** A page ends early when it holds so much; two pages of each log are in memory. */
const pageBytes = 8 << 20

/** All events of the log in order, system events too, up to where the log ends by then. `after` is not among them. */
export async function* readLog(client: RawClient, after?: LogPosition): AsyncGenerator<RawEvent> {
  let last = after
  let next = readPage(client, last)
  for (;;) {
    const page = await next
    const end = page.events.at(-1)
    if (end !== undefined) {
      last = end.position
      // The next page is fetched while this one is used.
      next = readPage(client, last)
      next.catch(() => {})
    }
    yield* page.events
    if (page.isLast || end === undefined) return
  }
}

/** The log's last event. */
export async function readEnd(client: RawClient): Promise<RawEvent | undefined> {
  const all = new streams.ReadReq.Options.AllOptions()
  all.setEnd(new shared.Empty())
  const options = readOptions(1, streams.ReadReq.Options.ReadDirection.BACKWARDS)
  options.setAll(all)
  const { events } = await read(client, options, 1)
  return events[0]
}

/** The last metadata of a stream. */
export async function readMetadata(client: RawClient, stream: string): Promise<RawEvent | undefined> {
  const identifier = new shared.StreamIdentifier()
  identifier.setStreamName(Buffer.from(metastreamOf(stream)))
  const one = new streams.ReadReq.Options.StreamOptions()
  one.setStreamIdentifier(identifier)
  one.setEnd(new shared.Empty())
  const options = readOptions(1, streams.ReadReq.Options.ReadDirection.BACKWARDS)
  options.setStream(one)
  const { events } = await read(client, options, 1)
  return events[0]
}

type Page = { readonly events: readonly RawEvent[]; readonly isLast: boolean }

async function readPage(client: RawClient, after: LogPosition | undefined): Promise<Page> {
  const all = new streams.ReadReq.Options.AllOptions()
  if (after === undefined) all.setStart(new shared.Empty())
  else {
    const position = new streams.ReadReq.Options.Position()
    position.setCommitPosition(String(after.commit))
    position.setPreparePosition(String(after.prepare))
    all.setPosition(position)
  }
  const options = readOptions(pageEvents, streams.ReadReq.Options.ReadDirection.FORWARDS)
  options.setAll(all)
  const { events, isLast } = await read(client, options, pageEvents)
  // A read begins with the event at its position, which was there before.
  return { events: after === undefined ? events : events.filter(({ position }) => isAfter(position, after)), isLast }
}

function readOptions(count: number, direction: ReadReq.Options.ReadDirection) {
  const ids = new streams.ReadReq.Options.UUIDOption()
  ids.setString(new shared.Empty())
  const options = new streams.ReadReq.Options()
  options.setReadDirection(direction)
  options.setResolveLinks(false)
  options.setCount(String(count))
  options.setNoFilter(new shared.Empty())
  options.setUuidOption(ids)
  return options
}

function read(client: RawClient, options: ReadReq.Options, count: number): Promise<Page> {
  const request = new streams.ReadReq()
  request.setOptions(options)
  return client.call((stub, args) => collect(stub, args, request, count))
}

function collect(stub: StreamsClient, args: CallArguments, request: ReadReq, count: number): Promise<Page> {
  return new Promise((resolve, reject) => {
    const events: RawEvent[] = []
    let bytes = 0
    const call = stub.read(request, ...args)
    call.on('error', reject)
    call.on('end', () => resolve({ events, isLast: events.length < count }))
    call.on('data', (reply: ReadResp) => {
      const recorded = reply.getEvent()?.getEvent()
      if (recorded === undefined) return
      const event = rawEvent(recorded)
      events.push(event)
      bytes += event.data.length + event.metadata.length
      if (bytes < pageBytes) return
      // The promise is settled; the cancellation that follows is nobody's failure.
      resolve({ events, isLast: false })
      call.cancel()
    })
  })
}

function rawEvent(recorded: ReadResp.ReadEvent.RecordedEvent): RawEvent {
  const properties = recorded.getMetadataMap()
  return {
    id: recorded.getId()?.getString() ?? '',
    stream: Buffer.from(recorded.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(),
    revision: BigInt(recorded.getStreamRevision()),
    type: properties.get('type') ?? '',
    contentType: properties.get('content-type') ?? '',
    data: recorded.getData_asU8(),
    metadata: recorded.getCustomMetadata_asU8(),
    position: { commit: BigInt(recorded.getCommitPosition()), prepare: BigInt(recorded.getPreparePosition()) },
  }
}
