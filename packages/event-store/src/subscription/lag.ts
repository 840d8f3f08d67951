// How far something lies behind the end of the log: the events of interest after its position, counted and not decoded.
import grpcStubs, { type StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { isAfter, type LogPosition } from '@paylog/domain/logPosition'
import { type Line, member } from '../connection/connection.ts'
import type { CallArguments } from '../raw/rawClient.ts'
import { allFrom, readOptions, streamsWith } from '../raw/readRequest.ts'
import { createdOf, positionOf } from '../raw/recordedEvent.ts'
import { patiently, readHead } from '../read/reading.ts'

export type Lag = {
  readonly events: number
  /** Whether there may be more than was counted, because there are too many or because the store took too long. */
  readonly isMore: boolean
  /** When the first of them was recorded; absent when none was counted. */
  readonly since: Date | undefined
  /** The end of the log up to which was counted; absent for an empty log. */
  readonly end: LogPosition | undefined
}

/** How far is counted, and for how long: beyond that there may be more. */
export type LagLimits = { readonly most?: number; readonly timeoutMs?: number }

const defaultMost = 10_000

/**
 * Counts events of interest after a position, no longer than one read may take unless told otherwise. Streams other than
 * those with the prefixes are left out by the server.
 * @throws DomainError `event_store_unavailable`
 */
export async function measureLag(
  line: Line,
  position: LogPosition | undefined,
  prefixes: readonly string[],
  { most = defaultMost, timeoutMs = line.timing.readTimeoutMs }: LagLimits = {},
): Promise<Lag> {
  const end = await readHead(line)
  if (end === undefined || (position !== undefined && !isAfter(end, position))) {
    return { events: 0, isMore: false, since: undefined, end }
  }
  // One more than is counted shows that there are more, and a read begins with the event at its position.
  const request = filteredRead(position, prefixes, most + 2)
  return { ...(await patiently(line, () => count(line, request, { after: position, end, most, timeoutMs }))), end }
}

function filteredRead(from: LogPosition | undefined, prefixes: readonly string[], atMost: number): ReadReq {
  const options = readOptions(atMost, 'forwards')
  options.setAll(allFrom(from))
  // A store that finds nothing of interest among many events says so only at the end.
  options.setFilter(streamsWith(prefixes))
  return new streams.ReadReq().setOptions(options)
}

type Counted = Pick<Lag, 'events' | 'isMore' | 'since'>
type Counting = { readonly after: LogPosition | undefined; readonly end: LogPosition } & Required<LagLimits>

async function count({ connection, closing }: Line, request: ReadReq, counting: Counting): Promise<Counted> {
  const client = connection.current()
  const callArguments = member(client, 'callArguments')
  // An error that passes through `execute` makes the client connect anew if need be; a call that was enough does not.
  return await member(client, 'execute')(grpcStubs.StreamsClient, 'lag', (stub: StreamsClient) => {
    const args: CallArguments = callArguments({}, { deadline: Number.POSITIVE_INFINITY })
    return counted(stub, args, request, { ...counting, closing })
  })
}

function counted(
  stub: StreamsClient,
  args: CallArguments,
  request: ReadReq,
  { after, end, most, timeoutMs, closing }: Counting & { readonly closing: AbortSignal },
): Promise<Counted> {
  return new Promise((resolve, reject) => {
    let events = 0
    let since: Date | undefined
    const call = stub.read(request, ...args)
    const settle = (isMore: boolean) => {
      clearTimeout(timer)
      closing.removeEventListener('abort', close)
      resolve({ events, isMore, since })
      // The promise is settled: the cancellation is nobody's failure.
      call.cancel()
    }
    const timer = setTimeout(() => settle(true), timeoutMs)
    const close = () => {
      reject(closing.reason)
      settle(true)
    }
    closing.addEventListener('abort', close)
    call.on('end', () => settle(false))
    call.on('error', (error) => {
      reject(error)
      settle(true)
    })
    call.on('data', (reply: ReadResp) => {
      const recorded = reply.getEvent()?.getEvent()
      if (recorded === undefined) return
      const position = positionOf(recorded)
      if (after !== undefined && !isAfter(position, after)) return
      if (isAfter(position, end)) settle(false)
      else if (events === most) settle(true)
      else {
        since ??= createdOf(recorded)
        events++
      }
    })
  })
}
