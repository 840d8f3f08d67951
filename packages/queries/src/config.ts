// The variables of the query API.

import { identityVariables } from '@paylog/identity/identity'
import { url } from '@paylog/runtime/config/kinds'
import { type StaticDecode, Type } from 'typebox'

export const queryVariables = {
  DATABASE_URL: url(['postgres', 'postgresql']),
  ...identityVariables,
}

const QueryConfig = Type.Object(queryVariables)
export type QueryConfig = Readonly<StaticDecode<typeof QueryConfig>>
