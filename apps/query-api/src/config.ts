// The variables of the read side.
import { commaList, text, url } from '@paylog/runtime/config'
import { type StaticDecode, Type } from 'typebox'

export const queryVariables = {
  DATABASE_URL: url(['postgres', 'postgresql']),
  AUTH_URL: url(['http', 'https']),
  AUTH_SERVICE: text('payments'),
  ADMIN_USER_TYPES: commaList(['admin']),
}

const QueryConfig = Type.Object(queryVariables)
export type QueryConfig = Readonly<StaticDecode<typeof QueryConfig>>
