// What a product is, in words.
import type { Product } from '../../api/apiTypes.ts'

type Billing = Pick<Product, 'billing_interval' | 'trial_days'>

/** For example "once", or "every month, after a trial of 14 days". */
export function billingText({ billing_interval, trial_days }: Billing): string {
  if (billing_interval === null) return 'once'
  const trial = trial_days ? `, after a trial of ${trial_days === 1 ? '1 day' : `${trial_days} days`}` : ''
  return `every ${billing_interval}${trial}`
}
