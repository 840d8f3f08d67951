// The variables of the databases.

import { connectionString } from '@paylog/event-store/connection/connectionString'
import { url } from '@paylog/runtime/config/kinds'

export const databaseVariable = { DATABASE_URL: url(['postgres', 'postgresql']) }
export const logVariable = { EVENTSTORE_URL: connectionString() }
