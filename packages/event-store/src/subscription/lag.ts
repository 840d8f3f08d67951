// Lag behind the end of the log: counts the matching events after a position, without decoding them.
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
  /** Whether there may be more events than counted, because of the limit or the timeout. */
  readonly isMore: boolean
  /** When the first counted event was recorded. */
  readonly since: Date | undefined
  /** End of the log when the count started; absent for an empty log. */
  readonly end: LogPosition | undefined
}

/** Counting stops at these limits, and `isMore` is then true. */
export type LagLimits = { readonly maxEvents?: number; readonly timeoutMs?: number }

const defaultMaxEvents = 10_000

/**
 * Counts the events after a position in streams with the prefixes; the server filters. The default time limit is that of
 * one read.
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
  // One event more than the limit shows that there are more, and a read starts with the event at its position.
  const request = filteredRead(position, prefixes, maxEvents + 2)
  return {
    ...(await withRetries(context, () => countLag(context, request, { after: position, end, maxEvents, timeoutMs }))),
    end,
  }
}

function filteredRead(from: LogPosition | undefined, prefixes: readonly string[], maxCount: number): ReadReq {
  const options = readOptions(maxCount, 'forwards')
  options.setAll(allFrom(from))
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
  // On an error in `execute` the client reconnects if necessary; a call that is cancelled after enough events is no error.
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
      // The promise is settled, so the error of the cancelled call is ignored.
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
