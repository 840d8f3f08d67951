// Sends an action of a dialog, or of a button, until its outcome is known. Everything in the console that changes something
// is sent this way.
import { useEffect, useSyncExternalStore } from 'react'
import { useIdentity } from '../session/identity.ts'
import { createActionStore, type RepeatEffect } from './actionStore.ts'

const store = createActionStore({ storage: sessionStorage })

/** @param isRepeated whether an earlier request with this key may have had an effect */
export type Send<Input, Result> = (input: Input, attempt: { key: string; isRepeated: boolean }) => Promise<Result>

export type Action<Input, Result> = {
  readonly submit: (input: Input) => void
  /** Submits after forgetting the result that is shown. */
  readonly again: (input: Input) => void
  /** Sends the request with an unknown outcome again, as it was. */
  readonly repeat: () => void
  /** Forgets the result or error that is shown, so that another request may follow. */
  readonly reset: () => void
  readonly isRunning: boolean
  /** Whether a request may have had an effect, now or before the dialog was opened. */
  readonly isUnknown: boolean
  /** See `ActionState`. */
  readonly isDoubtful: boolean
  readonly effect: RepeatEffect
  /** What a request with an unknown outcome asks for, which cannot be changed any more. */
  readonly openInput: Input | undefined
  readonly error: unknown
  readonly result: Result | undefined
}

/**
 * @param options `name` of the act: what has the same name is the same act, with one key until its result was shown. `effect` of
 *   repeating the request. `onResponse` is called after each request
 */
export function useAction<Input, Result>(options: {
  readonly name: string
  readonly effect: RepeatEffect
  readonly send: Send<Input, Result>
  readonly onResponse?: () => void
}): Action<Input, Result> {
  const { effect, send, onResponse } = options
  const { id: userId } = useIdentity()
  // A key is only valid for its user: the same key of another one would be another act.
  const name = `${userId} ${options.name}`
  const state = useSyncExternalStore(store.subscribe, () => store.state(name))
  useEffect(() => () => store.leave(name), [name])
  const run = (input: unknown) => {
    if (userId === '') return
    const sendAgain: Send<unknown, Result> = (asked, attempt) => send(asked as Input, attempt)
    void store.run(name, { input, effect, send: sendAgain, onResponse })
  }
  return {
    submit: run,
    again(input) {
      store.reset(name)
      run(input)
    },
    repeat: () => run(state.attempt?.input),
    reset: () => store.reset(name),
    isRunning: state.isRunning || userId === '',
    isUnknown: state.isUnknown,
    isDoubtful: state.isDoubtful,
    effect,
    openInput: state.isUnknown ? (state.attempt?.input as Input) : undefined,
    error: state.error,
    result: state.success?.result as Result | undefined,
  }
}
