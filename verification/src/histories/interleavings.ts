// Every order in which the steps of two or three concurrent operations on one payment can happen. Two steps that touch different
// things, or only read, have the same result in either order: of such orders one is run (sleep sets, Godefroid 1996). Of orders that
// lead to the same state, one is continued.
import { expirePayment } from '@paylog/commands/payments/intentCalls'
import { reconcilePayment } from '@paylog/commands/payments/reconcilePayment'
import type { ProviderAct } from './books.ts'
import { createClients, type Operation, type Target } from './clients.ts'
import { newTarget, openStage, startMs } from './history.ts'
import { judge, type Violation } from './judge.ts'
import { type ProviderName, providerNames } from './providers/providers.ts'
import { createWorld, inProcess, type Step, type World } from './scheduler.ts'
import { type Api, startApi, startWorker } from './service.ts'
import { enterWorld } from './simulatedBuiltins.ts'

/** What runs concurrently: a request of a client, something at the provider with its notifications, or the reconciler. */
type Contender =
  | Operation
  | { readonly kind: 'provider'; readonly what: ProviderAct }
  | { readonly kind: 'reconcile' | 'expire' }
const states = ['new', 'open', 'authorized', 'paid', 'half created', 'half canceled', 'half refunded'] as const
type State = (typeof states)[number]

/** It expires before the race. */
const create: Operation = { kind: 'create', key: 'k1', expiresMs: 1_000 }
const refund = (digit: number, amount_cents?: number): Operation => {
  return { kind: 'refund', refund_id: `00000000-0000-4000-8000-00000000000${digit}`, amount_cents, hasKey: true }
}
const reconcile = { kind: 'reconcile' } as const
const expire = { kind: 'expire' } as const
const cancel = { kind: 'cancel' } as const
const atProvider = (name: ProviderAct): Contender => ({ kind: 'provider', what: name })

/** Twice the same one is a repeated request. */
const contenders: Readonly<Record<State, Readonly<Record<string, Contender>>>> = {
  new: { create, reconcile, cancel },
  open: { create, cancel, reconcile, expire, 'payer pays': atProvider('pay'), 'payer fails': atProvider('fail') },
  authorized: {
    capture: { kind: 'capture', amount_cents: undefined },
    'capture of a part': { kind: 'capture', amount_cents: 1_000 },
    cancel,
    reconcile,
  },
  paid: {
    'refund of all': refund(1),
    'refund of most': refund(2, 2_000),
    'refund elsewhere': atProvider('refund elsewhere'),
    dispute: atProvider('dispute'),
    reconcile,
    cancel,
  },
  'half created': { create, reconcile, cancel, expire },
  'half canceled': { cancel, reconcile, 'payer pays': atProvider('pay') },
  'half refunded': { 'refund of most': refund(2, 2_000), 'refund of all': refund(1), reconcile },
}

/** What a process was doing when it died: the provider has done it, and nobody has recorded that. */
const interrupted: Readonly<Partial<Record<State, Operation>>> = {
  'half created': create,
  'half canceled': cancel,
  'half refunded': refund(2, 2_000),
}
/** Longer than anybody waits for the process that died. */
const abandonedMs = 60_000

export type Race = { readonly provider: ProviderName; readonly state: State; readonly names: readonly string[] }

/** All races of this many operations. */
export function racesOf(size: number): readonly Race[] {
  const choose = (names: readonly string[], count: number): string[][] =>
    count === 0 ? [[]] : names.flatMap((name, at) => choose(names.slice(at), count - 1).map((rest) => [name, ...rest]))
  return providerNames.flatMap((provider) =>
    states.flatMap((state) =>
      choose(Object.keys(contenders[state]), size).map((names) => ({ provider, state, names })),
    ),
  )
}

type Move = Pick<Step, 'on' | 'isRead'> & { readonly by: string }
const areIndependent = (a: Move, b: Move) => a.by !== b.by && (a.on !== b.on || (a.isRead && b.isRead))

/** A point of the search: what could happen there, what was tried, and what need not be tried. */
type Node = { readonly moves: readonly Move[]; readonly tried: Move[]; readonly asleep: readonly Move[]; current: Move }

/** Of several equal operations that have not started, the first one begins. */
function isSameAsOther({ by }: Move, all: readonly Move[], path: readonly Node[]): boolean {
  const hasStarted = (name: string) => path.some(({ current }) => current.by === name)
  const isEqual = (other: Move) => other.by < by && other.by.slice(1) === by.slice(1) && !hasStarted(other.by)
  return !hasStarted(by) && all.some(isEqual)
}

export type Explored = {
  /** Orders that were started, those that led to a state that was seen before included. */
  readonly orders: number
  readonly steps: number
  /** Different states in which all operations were over, each judged. */
  readonly ends: number
  readonly violations: readonly Violation[]
}

/** @param limit of orders; the search stops there */
export async function exploreRace(
  race: Race,
  limit = Number.POSITIVE_INFINITY,
): Promise<Explored & { isWhole: boolean }> {
  const path: Node[] = []
  const violations: Violation[] = []
  /** The states that were reached, and what was asleep when they were continued. */
  const reached = new Map<string, readonly string[]>()
  const ends = new Set<string>()
  let [orders, steps] = [0, 0]
  while (orders < limit) {
    let depth = 0
    /** @returns undefined when every continuation was seen before */
    const choose = (all: readonly Move[], state: string): Move | undefined => {
      const known = path[depth++]
      if (known) return known.current
      const moves = all.filter((move) => !isSameAsOther(move, all, path))
      const parent = path.at(-1)
      const seen = parent ? [...parent.asleep, ...parent.tried] : []
      const asleep = parent ? seen.filter((move) => areIndependent(move, parent.current)) : []
      const names = asleep.map(({ by }) => by)
      if (reached.get(state)?.every((name) => names.includes(name))) return undefined
      reached.set(state, names)
      const current = moves.find((move) => !asleep.some(({ by }) => by === move.by))
      if (current) path.push({ moves, tried: [], asleep, current })
      return current
    }
    const run = await runRace(race, choose, ends)
    steps += run.steps
    orders++
    for (const violation of run.violations)
      if (!violations.some(({ rule }) => rule === violation.rule)) violations.push(violation)
    if (!advance(path)) return { orders, steps, ends: ends.size, violations, isWhole: true }
  }
  return { orders, steps, ends: ends.size, violations, isWhole: false }
}

/** Goes to the next untried move. @returns false when there is none */
function advance(path: Node[]): boolean {
  for (let node = path.at(-1); node; path.pop(), node = path.at(-1)) {
    node.tried.push(node.current)
    const { tried, asleep, moves } = node
    const next = moves.find((move) => ![...tried, ...asleep].some(({ by }) => by === move.by))
    if (next) {
      node.current = next
      return true
    }
  }
  return false
}

/** Longer than the reconciler waits before it looks at a payment. */
const calmMs = 130 * 60_000

/** Runs one order of the steps, lets everything settle, and judges. @param ends known ones, which need no judgement */
async function runRace(
  { provider, state, names }: Race,
  choose: (moves: readonly Move[], state: string) => Move | undefined,
  ends: Set<string>,
) {
  let [isRacing, isNew] = [false, true]
  const order = (steps: readonly Step[]): number => {
    if (!isRacing || !isNew) return 0
    const moves = steps.map(({ owner, on, isRead, what }) => ({ by: owner?.name ?? what, on, isRead }))
    const chosen = choose(moves, world.states.ofAll())
    if (chosen === undefined) isNew = false
    return Math.max(
      0,
      moves.findIndex(({ by }) => by === chosen?.by),
    )
  }
  const policy = { delaysMessages: false, stepMs: 0, atOnceMs: 100, order, fault: () => undefined }
  const world = createWorld(policy, startMs)
  enterWorld(world, 1)
  const { log, durable, answers } = await openStage(provider)
  const { books, tables } = durable
  const main = startApi(durable, 'api')
  const clients = createClients(() => main)
  const target = newTarget(provider, { amount_cents: 2_599, isManual: state === 'authorized' })
  const until = async (work: Promise<unknown>) => {
    let isOver = false
    void work.finally(() => {
      isOver = true
    })
    await world.run(() => isOver)
  }
  let notified = 0
  const notify = async (by = clients) => {
    for (const notification of books.notifications.slice(notified)) {
      notified++
      await by.notify(provider, notification)
    }
  }
  if (state !== 'new' && state !== 'half created') await until(clients.ask(create, target))
  if (state === 'authorized' || state === 'paid' || state === 'half refunded') books.act('pay', target, 0)
  await until(notify())
  await until(settle(main, target))
  const half = interrupted[state]
  if (half !== undefined) {
    const dying = startApi(durable, 'dying')
    const before = countAll(answers)
    void createClients(() => dying).ask(half, target)
    await world.run(() => countAll(answers) > before)
    world.kill(dying.process, () => false)
  }
  await until(new Promise((resolve) => void setTimeout(resolve, abandonedMs)))

  const work = names.map((name, index) => {
    const api = startApi(durable, `${index + 1}: ${name}`)
    const own = createClients(() => api)
    const act = (what: ProviderAct) => books.act(what, target, 0)
    const contender = contenders[state][name] as Contender
    return { own, over: contend({ contender, api, target, own, world, act, notify: () => notify(own) }) }
  })
  isRacing = true
  await until(Promise.all(work.map(({ over }) => over)))
  isRacing = false
  const given = work.map(({ own }) => own.asked.map((each) => each.answers))
  const end = `${world.states.ofThings()} ${JSON.stringify(given)}`
  const unexpected = () => world.problems.map((story) => ({ rule: 'unexpected error', story }))
  if (!isNew || ends.has(end)) return { violations: unexpected(), steps: world.stepsTaken() }
  ends.add(end)
  startWorker(durable)
  const calmSince = world.now()
  await until(notify())
  await world.run(() => world.steps.length === 0 && world.now() >= calmSince + calmMs)
  await until(notify())
  await world.end()
  const all = [clients, ...work.map(({ own }) => own)]
  const asked = all.flatMap((each) => each.asked)
  const accepted = all.flatMap((each) => each.accepted)
  const { followUps, deliveries } = tables
  const seen = { provider, targets: [target], asked, accepted, unaccepted: 0, events: log.events, books }
  const violations = [...unexpected(), ...judge({ ...seen, followUps, deliveries })].map(({ rule, story }) => {
    return { rule, story: `${story}\n${world.story.join('\n')}` }
  })
  return { violations, steps: world.stepsTaken() }
}

const countAll = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((all, count) => all + count, 0)

/** PayPal and the sandbox only approve at first: the money is captured, or authorized, when Paylog looks. */
const settle = ({ workflow, process }: Api, { payment_id }: Target) =>
  inProcess(process, () => reconcilePayment(workflow, payment_id, reconciling).catch(() => undefined))
const expireOn = ({ workflow, process }: Api, { payment_id }: Target) =>
  inProcess(process, () => expirePayment(workflow, { payment_id, metadata: reconciling }).catch(() => undefined))
const reconciling = { correlationId: 'race', causationId: 'race', actor: 'worker' }

type Contest = {
  readonly contender: Contender
  readonly api: Api
  readonly target: Target
  readonly own: ReturnType<typeof createClients>
  readonly world: World
  readonly act: (what: ProviderAct) => boolean
  readonly notify: () => Promise<void>
}

async function contend({ contender, api, target, own, world, act, notify }: Contest): Promise<void> {
  const { kind } = contender
  if (kind === 'reconcile') return void (await settle(api, target))
  if (kind === 'expire') return void (await expireOn(api, target))
  if (kind !== 'provider') return await new Promise((resolve) => void own.ask(contender as Operation, target, resolve))
  const { what: name } = contender
  await new Promise<void>((resolve) => {
    const run = () => {
      if (act(name)) world.states.changed('provider', name)
      resolve()
    }
    world.add({ what: `at the provider: ${name}`, owner: api.process, on: 'provider', isRead: false, run })
  })
  await notify()
}
