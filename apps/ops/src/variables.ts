// The variables of the databases.
import { url } from '@paylog/config/kinds'

export const databaseVariable = { DATABASE_URL: url(['postgres', 'postgresql']) }
export const logVariable = { EVENTSTORE_URL: url(['esdb', 'esdb+discover']) }
