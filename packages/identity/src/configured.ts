// The identity backend that the environment names, for both sides of the API.
import { commaList, text, url } from '@paylog/runtime/config'
import type { Lifecycle } from '@paylog/runtime/lifecycle'
import { type StaticDecode, Type } from 'typebox'
import { createIdentity, type Identity } from './identity.ts'

export const identityVariables = {
  AUTH_URL: url(['http', 'https']),
  AUTH_SERVICE: text('payments'),
  ADMIN_USER_TYPES: commaList(['admin']),
}
const IdentityConfig = Type.Object(identityVariables)

const timeoutMs = 2_000

/**
 * No check of readiness goes with it: without it sessions get 503, but no other replica would be better off, while guests'
 * payments and providers' notifications go on.
 * @param lifecycle closes its connections
 */
export function configuredIdentity(
  config: Readonly<StaticDecode<typeof IdentityConfig>>,
  lifecycle: Pick<Lifecycle, 'add'>,
): Identity {
  const identity = createIdentity({
    authUrl: config.AUTH_URL,
    service: config.AUTH_SERVICE,
    adminUserTypes: config.ADMIN_USER_TYPES,
    timeoutMs,
  })
  lifecycle.add('identity', () => identity.close())
  return identity
}
