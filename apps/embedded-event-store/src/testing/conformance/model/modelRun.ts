// A run: every step is executed by the model and the server, and the results must be equal.
import { waitFor } from '@paylog/testing/waitFor'
import { agree, agreeButForCheckpoints, DisagreementError, withoutCheckpoints } from './agreement.ts'
import { type AppendRequest, callAppend, callRemoval } from './calls.ts'
import { messageLine, readLines, tooLargeText, writeLine } from './lines.ts'
import { append, type Expected, softDelete, tombstone } from './model.ts'
import { callRead, callSubscribe, type ServerSubscription } from './readCalls.ts'
import { type LogRead, readLog, readStream, type StreamRead } from './reads.ts'
import { beforeRun, type Session } from './session.ts'
import { emptyStore, type Store } from './store.ts'
import { deliver, type Subscription, type SubscriptionRequest, subscribe } from './subscriptions.ts'

export type ModelRun = {
  store: Store
  /** Appends that can be repeated. */
  readonly appended: AppendRequest[]
  events: number
  /** The steps so far. */
  readonly steps: string[]
  readonly subscriptions: { model: Subscription; readonly server: ServerSubscription }[]
}

export function createModelRun(): ModelRun {
  return { store: emptyStore, appended: [], events: 0, steps: [], subscriptions: [] }
}

const maxAppendBytes = 1 << 20
const isTooLarge = ({ events }: AppendRequest) =>
  events.reduce((bytes, { data }) => bytes + data.length, 0) > maxAppendBytes

/** Whether KurrentDB treats an append otherwise than EventStoreDB, and thus the model. */
export const isOtherInKurrentDb = (request: AppendRequest) =>
  request.events.length === 0 ||
  request.expected === 'stream_exists' ||
  isTooLarge(request) ||
  request.events.some(({ type }) => type === '$streamDeleted')

/** EventStoreDB keeps as many live events per subscription as this allows twice, and catches up by reading beyond. */
const maxEventsBehind = 16
const deliveryTimeoutMs = 5_000

export async function doAppend(modelRun: ModelRun, session: Session, request: AppendRequest): Promise<void> {
  const { stream, expected, events } = request
  if (isTooLarge(request)) {
    agree(modelRun.store, session, [{ text: tooLargeText, at: [] }], [await callAppend(session, request, false)])
    return
  }
  const { response, store } = append(modelRun.store, stream, expected, events)
  const result = await callAppend(session, request, 'noResponse' in response)
  agree(modelRun.store, session, [writeLine(response, expected, false)], [result])
  if ('ok' in response && events.length > 0) modelRun.appended.push(request)
  await advance(modelRun, store)
}

export async function doRemoval(
  modelRun: ModelRun,
  session: Session,
  removal: 'delete' | 'tombstone',
  stream: string,
  expected: Expected,
): Promise<void> {
  const { response, store } = (removal === 'delete' ? softDelete : tombstone)(modelRun.store, stream, expected)
  agree(
    modelRun.store,
    session,
    [writeLine(response, expected, true)],
    [await callRemoval(session, removal, stream, expected)],
  )
  await advance(modelRun, store)
}

export async function doRead(modelRun: ModelRun, session: Session, read: StreamRead | LogRead): Promise<void> {
  const response = 'stream' in read ? readStream(modelRun.store, read) : readLog(modelRun.store, read)
  const { lines, others } = await callRead(session, read)
  // The model cannot predict the end of a read that also counts events of others.
  if (others === 0 || lines.length + others < read.count) agree(modelRun.store, session, readLines(response), lines)
}

/** Nothing else runs meanwhile, so that the result of the catch-up does not depend on its speed. */
export async function doSubscribe(modelRun: ModelRun, session: Session, request: SubscriptionRequest): Promise<void> {
  const subscription = { model: subscribe(modelRun.store, request), server: callSubscribe(session, request) }
  modelRun.subscriptions.push(subscription)
  await received(subscription, 0)
}

/** Live events may arrive later, except events with links, whose targets may change with the next step. */
async function advance(modelRun: ModelRun, store: Store): Promise<void> {
  const written = store.log.slice(modelRun.store.log.length)
  modelRun.store = store
  const haveLinks = written.some(({ type }) => type === '$>')
  for (const subscription of modelRun.subscriptions) {
    subscription.model = deliver(store, subscription.model, written)
    const linked = haveLinks && subscription.model.request.links
    await received(subscription, linked ? 0 : maxEventsBehind)
  }
}

async function received({ model, server }: ModelRun['subscriptions'][number], behind: number): Promise<void> {
  const wanted = withoutCheckpoints(model.received.map(messageLine)).length - behind
  const enough = () => withoutCheckpoints(server.lines().lines).length >= wanted
  try {
    await waitFor(enough, { what: `${wanted} messages`, timeoutMs: deliveryTimeoutMs })
  } catch (error) {
    const texts = server.lines().lines.map(({ text }) => text)
    throw new DisagreementError(`a subscription has only\n  ${texts.join('\n  ')}`, { cause: error })
  }
}

/** Compares the whole log of the run, then everything that the subscriptions have received. */
export async function finish(modelRun: ModelRun, session: Session): Promise<void> {
  const wholeLog = { direction: 'forwards', from: beforeRun, count: 100_000, links: false, filter: undefined } as const
  const { lines, others } = await callRead(session, wholeLog)
  agree(modelRun.store, session, readLines(readLog(modelRun.store, wholeLog)), lines)
  const alone = others === 1
  for (const subscription of modelRun.subscriptions) await received(subscription, 0)
  // Superfluous messages of the server arrive before the response to this read.
  await doRead(modelRun, session, { stream: 'nothing', direction: 'backwards', from: 'end', count: 1, links: false })
  for (const { model, server } of modelRun.subscriptions) {
    const { lines } = server.lines()
    const expected = model.received.map(messageLine)
    // Checkpoints count events of other clients and from before the run. With such events only their rules can hold.
    if (alone && !session.isKurrentDb && model.request.from !== 'start') agree(modelRun.store, session, expected, lines)
    else agreeButForCheckpoints(modelRun.store, session, expected, lines)
  }
  if (session.batch.problems.length > 0) throw new DisagreementError(session.batch.problems.join(', '))
}
