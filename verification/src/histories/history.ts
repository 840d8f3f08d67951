// One random history: a few operations on a payment, with faults between any two steps, then calm, then the judgement.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryKeys } from '@paylog/event-store/testing/memoryKeys'
import { endOfPaymentId, paymentIdEndingIn } from '@paylog/providers/findableId'
import { type Account, type Books, providerActs } from './books.ts'
import { type Choices, happens, pick } from './choices.ts'
import { createClients, describe, isRepeatable, type Operation, type Target } from './clients.ts'
import { judge, type Violation } from './judge.ts'
import { openBooks, providerNames } from './providers/providers.ts'
import { createWorld, type Policy, type Process, type World } from './scheduler.ts'
import { type Api, type Durable, startApi, startWorker } from './service.ts'
import { enterWorld } from './simulatedBuiltins.ts'
import { createSimulatedLog } from './simulatedLog.ts'
import { openNetwork } from './simulatedNetwork.ts'
import { createSimulatedTables } from './simulatedTables.ts'

export type Figures = ReadonlyMap<string, number>

export type HistoryResult = {
  readonly violations: readonly Violation[]
  readonly steps: number
  readonly story: readonly string[]
  readonly faults: Figures
  /** What the log, the providers and the clients got to see. */
  readonly events: Figures
  readonly answers: Figures
  readonly codes: Figures
}

export const startMs = Date.UTC(2026, 10, 27)
/** Long enough for the reconciler to look at every payment at least once after the last fault. */
const calmMs = 5 * 60 * 60_000
/** No message takes longer, and no timer further ahead fires while one is under way. */
const maxDelayMs = 20_000
const crashPermille = 8
const earlyPermille = 20

/** Chooses by chance until the faults are over. */
function randomPolicy(choices: Choices, faults: { left: number }): Policy {
  return {
    delaysMessages: true,
    stepMs: 7,
    atOnceMs: -1,
    order(steps, msToNextTimer) {
      const [oldest] = steps
      if (oldest !== undefined && oldest.since + maxDelayMs < Date.now()) return 0
      if (msToNextTimer < maxDelayMs && faults.left > 0 && happens(choices, 'order', earlyPermille)) return 'time'
      const chosen = choices.next('order', steps.length * 2)
      return chosen < steps.length ? chosen : 0
    },
    fault(kinds, permille) {
      if (faults.left === 0 || !happens(choices, 'faults', permille)) return undefined
      faults.left--
      return kinds[choices.next('faults', kinds.length)]
    },
  }
}

/** Everything that one history needs, on the world that was entered. */
export async function openStage(provider: (typeof providerNames)[number]) {
  const log = createSimulatedLog()
  log.open()
  const answers = openNetwork()
  const books = await openBooks[provider]()
  const durable: Durable = { provider, books, tables: createSimulatedTables(), keys: memoryKeys() }
  return { log, answers, durable }
}

export function newTarget(provider: Target['provider'], more: Pick<Target, 'amount_cents' | 'isManual'>): Target {
  return { payment_id: paymentIdEndingIn(endOfPaymentId(randomUUID())), provider, ...more }
}

export async function runHistory(choices: Choices, seed: number): Promise<HistoryResult> {
  const faults = { left: choices.next('script', 6) }
  const policy = randomPolicy(choices, faults)
  const world = createWorld({ ...policy, between }, startMs)
  enterWorld(world, seed)
  const stage = await openStage(pick(choices, 'script', providerNames))
  const { durable } = stage
  const { books, provider } = durable
  const apis = ['api 1', 'api 2'].map((name) => startApi(durable, name))
  const running: { worker: Process } = { worker: startWorker(durable) }
  const clients = createClients(() => apis[choices.next('delays', 2)] as Api)
  const targets: Target[] = []
  let [notified, unaccepted] = [0, 0]

  /** Kills processes, and sends the notifications that are new. */
  function between(): void {
    if (faults.left > 0 && happens(choices, 'faults', crashPermille)) {
      faults.left--
      crash(world, choices.next('faults', 3))
    }
    for (const notification of books.notifications.slice(notified)) {
      notified++
      unaccepted++
      void deliver(notification)
    }
  }

  function crash(world: World, which: number): void {
    const process = which === 2 ? running.worker : (apis[which] as Api).process
    if (!process.isAlive) return
    world.tell(`${process.name} dies`)
    world.count(`the ${which === 2 ? 'worker' : 'API'} dies`)
    world.kill(process, () => choices.next('faults', 2) === 1)
    const restart = () => {
      if (which === 2) running.worker = startWorker(durable)
      else apis[which] = startApi(durable, process.name)
    }
    world.after({}, pick(choices, 'delays', [500, 5_000, 45_000]), restart)
  }

  async function deliver(notification: Books['notifications'][number]): Promise<void> {
    const isDoubled = faults.left > 0 && happens(choices, 'delays', 100)
    for (let pauseMs = 5_000; ; pauseMs *= 2) {
      await sleep(pick(choices, 'delays', [0, 300, 2_500, 90_000]))
      if (await clients.notify(provider, notification)) break
      await sleep(pauseMs)
    }
    unaccepted--
    if (!isDoubled) return
    world.count('a notification is sent twice')
    await clients.notify(provider, notification)
  }

  const script = async () => {
    await runScript({ choices, world, books, provider, targets, clients })
    faults.left = 0
    books.delaySearch?.(false)
    world.tell('calm')
  }
  let calmSince = Number.POSITIVE_INFINITY
  void script().then(() => {
    calmSince = world.now()
  })
  const isSettled = () =>
    world.steps.length === 0 &&
    world.now() >= calmSince + calmMs &&
    (world.now() >= calmSince + 2 * calmMs || (unaccepted === 0 && clients.asked.every(({ isOver }) => isOver)))
  await world.run(isSettled)

  await world.end()
  return resultOf({ world, stage, targets, clients, unaccepted })
}

type Ended = {
  readonly world: World
  readonly stage: Awaited<ReturnType<typeof openStage>>
  readonly targets: readonly Target[]
  readonly clients: ReturnType<typeof createClients>
  readonly unaccepted: number
}

function resultOf({ world, stage, targets, clients, unaccepted }: Ended): HistoryResult {
  const { books, provider, tables } = stage.durable
  const { followUps, deliveries } = tables
  const { events } = stage.log
  const { asked, accepted } = clients
  const problems = world.problems.map((story) => ({ rule: 'unexpected error', story }))
  const seen = { provider, targets, asked, accepted, unaccepted, events, books, followUps, deliveries }
  const codes = asked.flatMap(({ operation, answers }) => answers.map(({ code }) => `${operation.kind}: ${code}`))
  return {
    violations: [...problems, ...judge(seen)],
    steps: world.stepsTaken(),
    story: world.story,
    faults: world.faults,
    events: countBy(events, ({ type }) => type),
    answers: stage.answers,
    codes: countBy(codes, (code) => code),
  }
}

function countBy<Item>(items: readonly Item[], kind: (item: Item) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(kind(item), (counts.get(kind(item)) ?? 0) + 1)
  return counts
}

const gapsMs = [0, 0, 0, 100, 400, 2_000, 20_000, 400_000] as const
const anything = [
  'nothing',
  'pay',
  'cancel',
  'capture',
  'refund',
  'again',
  'refresh',
  'search',
  'another',
  ...providerActs,
] as const
type Action = (typeof anything)[number]
/** What makes most sense, by the state at the provider. The rest of the time anything happens. */
const sensible: Readonly<Record<Account['state'], readonly Action[]>> = {
  none: ['nothing', 'again', 'another', 'cancel', 'search'],
  open: ['nothing', 'pay', 'pay', 'pay', 'fail', 'begin to pay', 'cancel', 'again', 'cancel elsewhere'],
  processing: ['nothing', 'complete', 'complete', 'cancel', 'refresh', 'fail', 'cancel elsewhere'],
  authorized: ['nothing', 'capture', 'capture', 'cancel', 'refresh', 'cancel elsewhere'],
  paid: [
    'nothing',
    'refund',
    'refund',
    'refund',
    'again',
    'complete',
    'end a refund',
    'refund elsewhere',
    'dispute',
    'end a dispute',
    'cancel',
  ],
  canceled: ['nothing', 'pay', 'cancel', 'refund', 'refresh'],
}

type Script = {
  readonly choices: Choices
  readonly world: World
  readonly books: Books
  readonly provider: Target['provider']
  readonly targets: Target[]
  readonly clients: ReturnType<typeof createClients>
}

/** The operations of a history. They run concurrently, as far as there are no pauses. */
async function runScript({ choices, world, books, provider, targets, clients }: Script): Promise<void> {
  const started: (readonly [Operation, Target])[] = []
  const ask = (operation: Operation, target: Target) => {
    started.push([operation, target])
    world.tell(`a client asks: ${describe(operation)}`)
    void clients.ask(operation, target)
  }
  const next = (count: number) => choices.next('script', count)
  const create = (amount_cents: number, variant: number) => {
    const target = newTarget(provider, { amount_cents, isManual: variant % 3 === 1 })
    const key = variant % 4 < 3 ? `k${targets.length + 1}` : null
    const expiresMs = variant === 11 ? 3_600_000 : variant === 10 ? 60_000 : null
    targets.push(target)
    ask({ kind: 'create', key, expiresMs }, target)
  }
  const act = (
    action: Action,
    target: Target,
    { part, variant }: { readonly part: number; readonly variant: number },
  ) => {
    const amount_cents = [undefined, 1, Math.ceil(target.amount_cents / 2), target.amount_cents][part]
    if (action === 'nothing') return
    if (action === 'cancel' || action === 'refresh') ask({ kind: action }, target)
    else if (action === 'capture') ask({ kind: 'capture', amount_cents }, target)
    else if (action === 'refund')
      ask({ kind: 'refund', refund_id: randomUUID(), amount_cents, hasKey: variant % 2 === 0 }, target)
    else if (action === 'search') {
      if (books.delaySearch) world.count('searches find new intents late')
      books.delaySearch?.(true)
    } else if (action === 'another') create(target.amount_cents, variant)
    else if (action === 'again') {
      const [operation, about] = started[variant % started.length] as readonly [Operation, Target]
      if (isRepeatable(operation)) ask(operation, about)
    } else if (books.act(action, target, variant)) world.tell(`at the provider: ${action}`)
  }
  create(pick(choices, 'script', [2_599, 1_000, 100]), next(12))
  for (let left = next(10); left > 0; left--) {
    // Always the same number of choices, so that one operation can be left out.
    const [gap, whose, sense, what, part, variant] = [
      next(gapsMs.length),
      next(8),
      next(4),
      next(1_000),
      next(4),
      next(12),
    ]
    await sleep(gapsMs[gap] ?? 0)
    const target = targets[whose % targets.length] as Target
    const actions = sense < 3 ? sensible[books.accountOf(target.payment_id).state] : anything
    act(actions[what % actions.length] ?? 'nothing', target, { part, variant })
  }
  await sleep(pick(choices, 'script', gapsMs))
}

/** The choices of one operation in the script, and those before the first one. */
export const scriptBlocks = { first: 5, size: 6 }
