// How an action ended, or that nobody knows yet.
import type { ReactNode } from 'react'
import { Notice } from '../../../parts/Notice.tsx'
import { ErrorState } from '../../../parts/states.tsx'

export function ActionOutcome(props: {
  readonly isUnknown: boolean
  readonly error: unknown
  /** What to show after a success; null before. */
  readonly success: ReactNode
}) {
  const { isUnknown, error, success } = props
  if (success !== null) {
    return (
      <Notice tone="good" role="status" title="Done">
        {success}
      </Notice>
    )
  }
  if (isUnknown) return <UnknownOutcome />
  return error === null ? null : <ErrorState error={error} />
}

function UnknownOutcome() {
  return (
    <Notice tone="warn" role="alert" title="Nobody knows yet whether it was done">
      The provider did not say what became of the request. Paylog finds out by itself, and the timeline will show it. Do
      not ask for another one. Repeating this one is safe: it is the same request, and is done at most once.
    </Notice>
  )
}
