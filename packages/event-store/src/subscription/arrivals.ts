// Takes what a subscription brings without a promise for each event, which would cost as much as reading the event.
import type { AllStreamResolvedEvent, AllStreamSubscription } from '@eventstore/db-client'
import type { LogPosition } from '@paylog/domain/logPosition'

/** That everything of interest up to here has come. */
export type CheckpointMessage = { readonly checkpoint: LogPosition }

export type SubscriptionReader = {
  /** The next one; null when it is not there yet. */
  next(): AllStreamResolvedEvent | CheckpointMessage | null
  /**
   * Waits until there may be more; to be called right after `next` returned null.
   * @throws Error why nothing will come any more
   */
  waitForMore(): Promise<void>
}

export function readSubscription(subscription: AllStreamSubscription): SubscriptionReader {
  let over: { readonly reason: unknown } | undefined
  let wake = () => {}
  const finish = (reason: unknown) => {
    over ??= { reason }
    wake()
  }
  const ended = () => finish(new Error('The event store ended the subscription'))
  // They stay: a subscription that was left may still fail.
  subscription.on('readable', () => wake())
  subscription.on('error', finish)
  subscription.on('end', ended)
  subscription.on('close', ended)
  return {
    next: () => subscription.read(),
    async waitForMore() {
      if (over) throw over.reason
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    },
  }
}
