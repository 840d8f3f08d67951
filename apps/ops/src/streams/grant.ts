// `streams grant`: makes the user that the apps log in as at EventStoreDB.
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { allowLogUser } from '@paylog/event-store/connection/logUser'
import { Type } from 'typebox'
import { type CliCommand, OpsError, readArguments } from '../command.ts'

/** A server that starts, or a cluster that elects, is ready within this. */
const patienceMs = 60_000
const esdb = url(['esdb', 'esdb+discover'])
const Config = Type.Object({ EVENTSTORE_URL: esdb, EVENTSTORE_ADMIN_URL: esdb })

export const streamsGrant: CliCommand = {
  usage: '',
  summary: 'Create the user of EVENTSTORE_URL, as the administrator of EVENTSTORE_ADMIN_URL, and let it read the log',
  details: [
    '  EVENTSTORE_URL        the address with the name and password of the user',
    '  EVENTSTORE_ADMIN_URL  the same event store with the name and password of an administrator',
    '',
    'The user may read the whole log and append to streams. It may be called again at any time. Exits with 1 when the event',
    'store cannot be reached within a minute or refuses the administrator.',
  ].join('\n'),
  async run(args, { environment, print }) {
    readArguments(args, [], {})
    const { EVENTSTORE_URL: userUrl, EVENTSTORE_ADMIN_URL: adminUrl } = loadConfig(Config, environment)
    if (adminUrl === userUrl) return print('The user is there already: EVENTSTORE_ADMIN_URL names no other.')
    const user = await allowLogUser({ adminUrl, userUrl, retryTimeoutMs: patienceMs }).catch((error: Error) => {
      throw new OpsError(`The user cannot be made: ${error.message}`, { cause: error })
    })
    await print(`${user} may read the whole log, and write to it.`)
  },
}
