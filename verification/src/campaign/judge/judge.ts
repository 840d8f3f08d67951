// Judges a campaign from outside. Shares no code with the product: it compares what clients, payers and endpoints saw, the
// providers' books, the log, and what the APIs show.
import { judgeAudit, judgeLog } from './judgeLog.ts'
import { judgeOperations } from './judgeOperations.ts'
import { judgeBooks, judgeShown } from './judgePayments.ts'
import { judgePrivacy } from './judgePrivacy.ts'
import { judgeWebhooks } from './judgeWebhooks.ts'
import type { Observations, Violation } from './observations.ts'
import { paymentsInLog } from './paymentsInLog.ts'

export function judge(observations: Observations): Violation[] {
  const logged = paymentsInLog(observations.log)
  return [
    ...judgeLog(observations),
    ...judgeAudit(observations),
    ...judgeOperations(observations, logged),
    ...judgeBooks(observations, logged),
    ...judgeShown(observations, logged),
    ...judgeWebhooks(observations, logged),
    ...judgePrivacy(observations),
  ]
}
