// The variables of the write side.
import { bool, commaList, durationMs, text, url } from '@paylog/runtime/config'
import { providerVariables } from '@paylog/workflows/enabledProviders'
import { type StaticDecode, Type } from 'typebox'

export const commandVariables = {
  EVENTSTORE_URL: url(['esdb', 'esdb+discover']),
  AUTH_URL: url(['http', 'https']),
  AUTH_SERVICE: text('payments'),
  ADMIN_USER_TYPES: commaList(['admin']),
  GUEST_TOKEN_HISTORY_FALLBACK: bool(true),
  GUEST_TOKEN_HISTORY_MAX_AGE: durationMs('24h'),
  ...providerVariables,
}

const CommandConfig = Type.Object(commandVariables)
export type CommandConfig = Readonly<StaticDecode<typeof CommandConfig>>
