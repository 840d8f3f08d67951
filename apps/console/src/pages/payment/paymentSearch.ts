import { textsOf } from '../../search.ts'

/** The moment as of which the payment is shown; now without it. */
export const paymentSearch = (search: Record<string, unknown>) => textsOf(search, ['as_of'])
