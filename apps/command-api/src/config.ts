// The variables of the write side.
import { commaList, text, url } from '@paylog/runtime/config'
import { providerVariables } from '@paylog/workflows/enabledProviders'
import { type StaticDecode, Type } from 'typebox'

export const commandVariables = {
  EVENTSTORE_URL: url(['esdb', 'esdb+discover']),
  AUTH_URL: url(['http', 'https']),
  AUTH_SERVICE: text('payments'),
  ADMIN_USER_TYPES: commaList(['admin']),
  ...providerVariables,
}

const CommandConfig = Type.Object(commandVariables)
export type CommandConfig = Readonly<StaticDecode<typeof CommandConfig>>
