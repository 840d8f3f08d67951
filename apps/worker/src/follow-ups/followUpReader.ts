// From the log to the worker's list: plans each batch and records it with its position.

import type { LogReader } from '@paylog/deliveries/subscriptions/soleSubscription'
import type { LogPosition } from '@paylog/domain/logPosition'
import type { ReconcileTasks } from './followUps.ts'
import { type PlanRules, planOf } from './plan.ts'

export const reconcilerSubscription = 'follow-ups'

/** @param deps `dueNow` is called when something became due that does not wait */
export function createReconcilePlanner(deps: {
  readonly followUps: Pick<ReconcileTasks, 'checkpoint' | 'record'>
  readonly rules: PlanRules
  readonly now: () => Date
  readonly dueNow: () => void
}): LogReader {
  const { followUps, rules, now, dueNow } = deps
  let position: LogPosition | undefined
  return {
    async start() {
      position = await followUps.checkpoint(reconcilerSubscription)
      return position
    },
    async handle({ events, position: to }) {
      const planned = events.flatMap((event) => {
        const plan = planOf(event, rules)
        return plan ? [{ event, plan }] : []
      })
      await followUps.record({ name: reconcilerSubscription, from: position, to, planned, at: now() })
      position = to
      if (planned.some(({ plan }) => plan.ask)) dueNow()
    },
  }
}
