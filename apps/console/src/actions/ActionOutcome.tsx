// How an action ended, or that nobody knows yet.
import type { ReactNode } from 'react'
import { Notice } from '../parts/Notice.tsx'
import { ErrorState } from '../parts/states.tsx'
import type { Action } from './useAction.ts'

type Outcome = Pick<Action<never, unknown>, 'isUnknown' | 'isRunning' | 'isDoubtful' | 'effect' | 'error'>

/** @param props `success` is what to show after a success, below `done`; null before */
export function ActionOutcome(props: {
  readonly action: Outcome
  readonly success: ReactNode
  readonly done?: string | undefined
}) {
  const { action, success, done = 'Done' } = props
  if (success !== null) {
    return (
      <Notice tone="good" role="status" title={done}>
        {success}
      </Notice>
    )
  }
  const { isUnknown, isRunning, isDoubtful, error } = action
  return (
    <>
      {isUnknown && (
        <Notice tone="warn" role="alert" title="Nobody knows yet whether it was done">
          {isRunning ? waitingText : unknownTexts[action.effect === 'once' ? 'once' : 'each time']}
          {!isRunning && error instanceof Error && <p className="errorIds">The last response was: {error.message}</p>}
        </Notice>
      )}
      {isDoubtful && (
        <Notice tone="warn" role="alert" title="The first request may have done it">
          Look at the present state before you ask for it again.
        </Notice>
      )}
      {!isUnknown && error !== null && <ErrorState error={error} />}
    </>
  )
}

const waitingText =
  'There was no clear response. The same request is being repeated; it is done at most once. When you leave, that ends; it can be repeated when you come back.'

const unknownTexts = {
  once: 'There was no clear response. Do not ask for another one. Repeating this one is safe: it is the same request, and is done at most once.',
  'each time':
    'There was no clear response. Look first whether it was done: a repetition may do it once more, or be rejected because it was.',
}
