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
/** EventStoreDB keeps as many live events per subscription as this allows twice, and catches up by reading beyond. */
const maxEventsBehind = 16
const deliveryTimeoutMs = 5_000

export async function doAppend(world: ModelRun, session: Session, request: AppendRequest): Promise<void> {
  const { stream, expected, events } = request
  if (events.reduce((bytes, { data }) => bytes + data.length, 0) > maxAppendBytes) {
    agree(world.store, session, [{ text: tooLargeText, at: [] }], [await callAppend(session, request, false)])
    return
  }
  const { answer, store } = append(world.store, stream, expected, events)
  const answered = await callAppend(session, request, 'unanswered' in answer)
  agree(world.store, session, [writeLine(answer, expected, false)], [answered])
  if ('ok' in answer && events.length > 0) world.appended.push(request)
  await advance(world, store)
}

export async function doRemoval(
  world: ModelRun,
  session: Session,
  removal: 'delete' | 'tombstone',
  stream: string,
  expected: Expected,
): Promise<void> {
  const { answer, store } = (removal === 'delete' ? softDelete : tombstone)(world.store, stream, expected)
  agree(
    world.store,
    session,
    [writeLine(answer, expected, true)],
    [await callRemoval(session, removal, stream, expected)],
  )
  await advance(world, store)
}

export async function doRead(world: ModelRun, session: Session, read: StreamRead | LogRead): Promise<void> {
  const answer = 'stream' in read ? readStream(world.store, read) : readLog(world.store, read)
  const { lines, others } = await callRead(session, read)
  // The model cannot predict the end of a read that also counts events of others.
  if (others === 0 || lines.length + others < read.count) agree(world.store, session, readLines(answer), lines)
}

/** Opened while nothing else happens: what a catch-up finds must not depend on how fast it is. */
export async function doSubscribe(world: ModelRun, session: Session, request: SubscriptionRequest): Promise<void> {
  const subscription = { model: subscribe(world.store, request), server: callSubscribe(session, request) }
  world.subscriptions.push(subscription)
  await received(subscription, 0)
}

/** What is live reaches the subscriptions while the run goes on, but the targets of links may change by that. */
async function advance(world: ModelRun, store: Store): Promise<void> {
  const written = store.log.slice(world.store.log.length)
  world.store = store
  const haveLinks = written.some(({ type }) => type === '$>')
  for (const subscription of world.subscriptions) {
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
export async function finish(world: ModelRun, session: Session): Promise<void> {
  const wholeLog = { direction: 'forwards', from: beforeRun, count: 100_000, links: false, filter: undefined } as const
  const { lines, others } = await callRead(session, wholeLog)
  agree(world.store, session, readLines(readLog(world.store, wholeLog)), lines)
  const alone = others === 1
  for (const subscription of world.subscriptions) await received(subscription, 0)
  // What a server sends too much arrives behind what was awaited; an answer to anything else comes later still.
  await doRead(world, session, { stream: 'nothing', direction: 'backwards', from: 'end', count: 1, links: false })
  for (const { model, server } of world.subscriptions) {
    const { lines } = server.lines()
    const expected = model.received.map(messageLine)
    // Checkpoints count the events of others, and those before the run: where there were any, only their rules hold.
    if (alone && model.request.from !== 'start') agree(world.store, session, expected, lines)
    else agreeButForCheckpoints(world.store, session, expected, lines)
  }
  if (session.batch.oddities.length > 0) throw new DisagreementError(session.batch.oddities.join(', '))
}
