// The variables of the databases.
import { url } from '@paylog/config/kinds'
import { connectionString } from '@paylog/event-store/connection/connectionString'

export const databaseVariable = { DATABASE_URL: url(['postgres', 'postgresql']) }
export const logVariable = { EVENTSTORE_URL: connectionString() }
