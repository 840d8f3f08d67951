// Every projection that runs.
import { addresses } from './addresses/projection.ts'
import { paymentMethods } from './payment-methods/projection.ts'
import { payments } from './payments/projection.ts'
import { products } from './products/projection.ts'
import type { Projection } from './projection.ts'

export const projections: readonly Projection[] = [payments, paymentMethods, addresses, products]
