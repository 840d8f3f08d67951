// `streams grant`: creates the EventStoreDB user of the apps.
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { allowLogUser } from '@paylog/event-store/connection/logUser'
import { Type } from 'typebox'
import { type CliCommand, OpsError, readArguments } from '../command.ts'

/** Enough for a server start or a cluster election. */
const readyTimeoutMs = 60_000
const esdb = url(['esdb', 'esdb+discover'])
const Config = Type.Object({ EVENTSTORE_URL: esdb, EVENTSTORE_ADMIN_URL: esdb })

export const streamsGrant: CliCommand = {
  usage: '',
  summary: 'Create the EventStoreDB user of the apps, with read access to the log',
  details: [
    '  EVENTSTORE_URL        the event store, with the name and password of the new user',
    '  EVENTSTORE_ADMIN_URL  the same event store, with the name and password of an administrator',
    '',
    'The user may read the whole log and append to streams. The command may be repeated at any time. Exits with 1 when the',
    'event store cannot be reached within a minute or rejects the administrator.',
  ].join('\n'),
  async run(args, { environment, print }) {
    readArguments(args, [], {})
    const { EVENTSTORE_URL: userUrl, EVENTSTORE_ADMIN_URL: adminUrl } = loadConfig(Config, environment)
    if (adminUrl === userUrl) return print('Nothing to do: EVENTSTORE_ADMIN_URL and EVENTSTORE_URL are the same.')
    const user = await allowLogUser({ adminUrl, userUrl, retryTimeoutMs: readyTimeoutMs }).catch((error: Error) => {
      throw new OpsError(`The user cannot be created: ${error.message}`, { cause: error })
    })
    await print(`${user} can read the whole log and append to it.`)
  },
}
