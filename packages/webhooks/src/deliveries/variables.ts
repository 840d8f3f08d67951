// The variables that configure webhook deliveries. Those of the endpoints are decoded elsewhere: their list is open.

import { connectionString } from '@paylog/event-store/connection/connectionString'
import { ageMs, commaList, listOf, oneOf, text, url } from '@paylog/runtime/config/kinds'
import { isRange } from '@paylog/runtime/http/networks'
import { Type } from 'typebox'

/** Private address ranges in which an endpoint may be. */
export const privateRanges = (byDefault: string[]) => listOf(isRange, 'ranges such as 10.0.0.0/8,::1/128', byDefault)

export const deliveryVariables = {
  DATABASE_URL: url(['postgres', 'postgresql']),
  EVENTSTORE_URL: connectionString(),
  REDIS_URL: Type.Optional(url(['redis', 'rediss'])),
  PROJECT_ID: text('default'),
  /** The projects that payers without a session may name. */
  PROJECT_IDS: commaList([]),
  WEBHOOK_SUCCESS_STATUS: oneOf(['200', '2xx'], '200'),
  WEBHOOK_ALLOWED_PRIVATE_CIDRS: privateRanges([]),
  WEBHOOK_LOG_RETENTION: ageMs('90d'),
}
