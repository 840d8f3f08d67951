// The actions of this tab: what was sent, with which key, and what came of it. It lives outside the pages, so that a second
// click finds the first one without waiting for a render, and a dialog that is opened again finds the request of the last one.
import { pause } from '../api/pause.ts'
import { effectOf } from './effect.ts'
import { randomKey } from './randomKey.ts'

/** A request that is repeated with the same key and content until its outcome is known. */
type Attempt = { readonly key: string; readonly input: unknown }

/**
 * What repeating a request does: `none` nothing, like a dry run; `once` nothing more than the first one; `each time` perhaps
 * the same again, so that only a person repeats it.
 */
export type RepeatEffect = 'none' | 'once' | 'each time'

export type ActionState = {
  /** Of the last request; undefined for a dry run, before the first one, and after an error that says that nothing was done. */
  readonly attempt: Attempt | undefined
  /** Whether a request is under way, or its repetition is awaited. */
  readonly isRunning: boolean
  /** Whether a request with the key may have had an effect. */
  readonly isUnknown: boolean
  /** Of the last request; null after a success, and before the first one. */
  readonly error: unknown
  /** Whether an earlier request may have done what an error now says cannot be done. */
  readonly isDoubtful: boolean
  readonly success: { readonly result: unknown } | undefined
}

type Sent = {
  readonly input: unknown
  /** @param isRepeated whether an earlier request with this key may have had an effect */
  readonly send: (input: unknown, attempt: { key: string; isRepeated: boolean }) => Promise<unknown>
  readonly effect: RepeatEffect
  /** Called after each request, because it may have had an effect even when its outcome is not known. */
  readonly onResponse?: (() => void) | undefined
}

export type ActionStore = {
  /** The state of an action; the same object until it changes. */
  state(name: string): ActionState
  /** Sends a request, unless one is under way or has its result. An open attempt is sent again as it was. */
  run(name: string, sent: Sent): Promise<void>
  /** Forgets what came of an action, unless its outcome is not known. */
  reset(name: string): void
  /** The dialog is closed: what it has shown is over, and what is not known is no longer repeated. */
  leave(name: string): void
  /** @returns the function that ends the subscription */
  subscribe(listener: () => void): () => void
}

const storageKey = 'paylog.attempts'
const idle: ActionState = {
  attempt: undefined,
  isRunning: false,
  isUnknown: false,
  error: null,
  isDoubtful: false,
  success: undefined,
}
/** Longer together than a request may be in progress at the API. Then a person decides. */
const pausesMs = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]

/**
 * @param options `storage` survives a reload, so that it does not lose the key of an unknown outcome; `newKey` gives a fresh key
 *   in each call; `pausesMs` between the repetitions of a request
 */
export function createActionStore(options: {
  readonly storage: Pick<Storage, 'getItem' | 'setItem'>
  readonly newKey?: () => string
  readonly pausesMs?: readonly number[]
}): ActionStore {
  const { storage, newKey = randomKey, pausesMs: pauses = pausesMs } = options
  const states = restored(storage)
  const closing = new Map<string, AbortController>()
  const listeners = new Set<() => void>()
  const stateOf = (name: string) => states.get(name) ?? idle

  function change(name: string, next: ActionState): void {
    if (next === idle) states.delete(name)
    else states.set(name, next)
    save(storage, states)
    for (const listener of listeners) listener()
  }

  async function run(name: string, { input, send, effect, onResponse }: Sent): Promise<void> {
    const before = stateOf(name)
    if (before.isRunning || before.success) return
    const attempt = (before.isUnknown && before.attempt) || { key: newKey(), input }
    const closed = new AbortController()
    closing.set(name, closed)
    const kept = effect === 'none' ? idle : { ...idle, attempt }
    let state: ActionState = { ...kept, isRunning: true, isUnknown: before.isUnknown }
    change(name, state)
    for (let repeats = 0; state.isRunning; repeats++) {
      const repetition = { key: attempt.key, isRepeated: state.isUnknown }
      const pauseMs = effect === 'once' ? pauses[repeats] : undefined
      state = await send(attempt.input, repetition).then(
        (result) => ({ ...kept, success: { result } }),
        (error) => failed(state, error, effect, pauseMs !== undefined && !closed.signal.aborted),
      )
      change(name, state)
      onResponse?.()
      if (!state.isRunning || pauseMs === undefined) break
      await pause(pauseMs, closed.signal)
      if (closed.signal.aborted) state = { ...state, isRunning: false }
      change(name, state)
    }
    closing.delete(name)
  }

  function reset(name: string): void {
    const { isRunning, isUnknown } = stateOf(name)
    if (!isRunning && !isUnknown) change(name, idle)
  }

  return {
    state: stateOf,
    run,
    reset,
    leave(name) {
      closing.get(name)?.abort()
      reset(name)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** @param mayRepeat whether it may be repeated without asking */
function failed(before: ActionState, error: unknown, effect: RepeatEffect, mayRepeat: boolean): ActionState {
  const meaning = effect === 'none' ? 'none' : effectOf(error)
  const isUnknown = meaning === 'unknown' || (meaning === 'not this one' && before.isUnknown)
  // A session that has expired, for example, needs a person first.
  if (isUnknown) return { ...before, error, isUnknown, isRunning: meaning === 'unknown' && mayRepeat }
  return { ...idle, error, isDoubtful: before.isUnknown && effect === 'each time' }
}

/** Keeps the attempts whose result nobody has seen. */
function save(storage: Pick<Storage, 'setItem'>, states: ReadonlyMap<string, ActionState>): void {
  const open = [...states].flatMap(([name, { attempt }]) => (attempt ? [[name, attempt]] : []))
  storage.setItem(storageKey, JSON.stringify(open))
}

function restored(storage: Pick<Storage, 'getItem'>): Map<string, ActionState> {
  const open: [string, Attempt][] = JSON.parse(storage.getItem(storageKey) ?? '[]')
  return new Map(open.map(([name, attempt]) => [name, { ...idle, attempt, isUnknown: true }]))
}
