// How far something lies behind the end of the log: the events of interest after its position, counted and not decoded.
import grpcStubs, { type StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { isAfter, type LogPosition } from '@paylog/domain/events'
import { type ConnectionContext, clientMethod } from '../connection/connection.ts'
import type { CallArguments } from '../raw/rawClient.ts'
import { createdOf, positionOf } from '../raw/rawEvent.ts'
import { allFrom, readOptions, streamsWith } from '../raw/rawRead.ts'
import { readLogHead, withRetries } from '../read/reads.ts'

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
export type LagLimits = { readonly maxEvents?: number; readonly timeoutMs?: number }

const defaultMaxEvents = 10_000

/**
 * Counts events of interest after a position, no longer than one read may take unless told otherwise. Streams other than
 * those with the prefixes are left out by the server.
 * @throws DomainError `event_store_unavailable`
 */
export async function measureLag(
  context: ConnectionContext,
  position: LogPosition | undefined,
  prefixes: readonly string[],
  { maxEvents = defaultMaxEvents, timeoutMs = context.timing.readTimeoutMs }: LagLimits = {},
): Promise<Lag> {
  const end = await readLogHead(context)
  if (end === undefined || (position !== undefined && !isAfter(end, position))) {
    return { events: 0, isMore: false, since: undefined, end }
  }
  // One more than is counted shows that there are more, and a read begins with the event at its position.
  const request = filteredRead(position, prefixes, maxEvents + 2)
  return {
    ...(await withRetries(context, () => countLag(context, request, { after: position, end, maxEvents, timeoutMs }))),
    end,
  }
}

function filteredRead(from: LogPosition | undefined, prefixes: readonly string[], atMost: number): ReadReq {
  const options = readOptions(atMost, 'forwards')
  options.setAll(allFrom(from))
  // A store that finds nothing of interest among many events says so only at the end.
  options.setFilter(streamsWith(prefixes))
  return new streams.ReadReq().setOptions(options)
}

type LagCount = Pick<Lag, 'events' | 'isMore' | 'since'>
type LagCountOptions = { readonly after: LogPosition | undefined; readonly end: LogPosition } & Required<LagLimits>

async function countLag(
  { connection, closing }: ConnectionContext,
  request: ReadReq,
  counting: LagCountOptions,
): Promise<LagCount> {
  const client = connection.current()
  const callArguments = clientMethod(client, 'callArguments')
  // An error that passes through `execute` makes the client connect anew if need be; a call that was enough does not.
  return await clientMethod(client, 'execute')(grpcStubs.StreamsClient, 'lag', (stub: StreamsClient) => {
    const args: CallArguments = callArguments({}, { deadline: Number.POSITIVE_INFINITY })
    return countEvents(stub, args, request, { ...counting, closing })
  })
}

function countEvents(
  stub: StreamsClient,
  args: CallArguments,
  request: ReadReq,
  { after, end, maxEvents, timeoutMs, closing }: LagCountOptions & { readonly closing: AbortSignal },
): Promise<LagCount> {
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
      else if (events === maxEvents) settle(true)
      else {
        since ??= createdOf(recorded)
        events++
      }
    })
  })
}
