// Work in the page that reports its progress and can be canceled.
import { useEffect, useRef, useState } from 'react'

export type WorkState<Progress, Result> =
  | { readonly status: 'idle' | 'canceled' }
  | { readonly status: 'running'; readonly progress: Progress | undefined }
  | { readonly status: 'done'; readonly result: Result }
  | { readonly status: 'failed'; readonly error: unknown }

/** What the work gets: it must end soon after the signal aborts. */
type Run<Progress> = { readonly signal: AbortSignal; readonly onProgress: (progress: Progress) => void }

/** How often the page shows new progress. */
const shownEveryMs = 200

/** Leaving the page cancels the work. */
export function useLongWork<Progress, Result>() {
  const [state, setState] = useState<WorkState<Progress, Result>>({ status: 'idle' })
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  async function start(work: (run: Run<Progress>) => Promise<Result>): Promise<void> {
    // A second click in the same frame would start a second export, with another entry in the audit trail.
    if (running.current?.signal.aborted === false) return
    const abort = new AbortController()
    running.current = abort
    let shownAt = 0
    const show = (next: WorkState<Progress, Result>) => running.current === abort && setState(next)
    const onProgress = (progress: Progress) => {
      if (performance.now() - shownAt < shownEveryMs) return
      shownAt = performance.now()
      show({ status: 'running', progress })
    }
    show({ status: 'running', progress: undefined })
    try {
      show({ status: 'done', result: await work({ signal: abort.signal, onProgress }) })
    } catch (error) {
      show(abort.signal.aborted ? { status: 'canceled' } : { status: 'failed', error })
    }
    if (running.current === abort) running.current = undefined
  }
  return { state, start, cancel: () => running.current?.abort(), reset: () => setState({ status: 'idle' }) }
}
