// Whether an API serves the start page, as in local mode.
import { oneOf } from '../../config/kinds.ts'

export const startPageVariables = {
  /** With `demo` it shows the credentials of the demo identity. */
  START_PAGE: oneOf(['off', 'on', 'demo'], 'off'),
}

/** Where its button makes a payment. */
export const firstPaymentPath = '/pages/first-payment'

export type StartPage = 'off' | 'on' | 'demo'
