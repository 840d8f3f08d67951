// The identity backend that the environment names, for both sides of the API.
import { commaList, text, url } from '@paylog/config/kinds'
import { type StaticDecode, Type } from 'typebox'
import { createIdentity, type Identity } from './identity.ts'

export const identityVariables = {
  AUTH_URL: url(['http', 'https']),
  AUTH_SERVICE: text('payments'),
  ADMIN_USER_TYPES: commaList(['admin']),
}
const IdentityConfig = Type.Object(identityVariables)

const timeoutMs = 2_000

/** The backend that the configuration names; `close` ends its connections. */
export function configuredIdentity(config: Readonly<StaticDecode<typeof IdentityConfig>>): Identity {
  return createIdentity({
    authUrl: config.AUTH_URL,
    service: config.AUTH_SERVICE,
    adminUserTypes: config.ADMIN_USER_TYPES,
    timeoutMs,
  })
}
