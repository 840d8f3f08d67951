// `streams grant`: creates the EventStoreDB user of the apps.

import { allowLogUser } from '@paylog/event-store/connection/logUser'
import { loadConfig } from '@paylog/runtime/config/environment'
import { Type } from 'typebox'
import { OpsError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { logVariable } from '../variables.ts'

/** Enough for a server start or a cluster election. */
const readyTimeoutMs = 60_000
const Config = Type.Object({ ...logVariable, EVENTSTORE_ADMIN_URL: logVariable.EVENTSTORE_URL })

export const streamsGrant = defineCommand({
  summary: 'Create the EventStoreDB user of the apps, with read access to the log',
  about: [
    '  EVENTSTORE_URL        the event store, with the name and password of the new user',
    '  EVENTSTORE_ADMIN_URL  the same event store, with the name and password of an administrator',
    '',
    'The user may read the whole log and append to streams. The command may be repeated at any time. Exits with 1 when the',
    'event store cannot be reached within a minute or rejects the administrator.',
  ],
  async run({ environment }) {
    const { EVENTSTORE_URL: userUrl, EVENTSTORE_ADMIN_URL: adminUrl } = loadConfig(Config, environment)
    if (adminUrl === userUrl) return { text: 'Nothing to do: EVENTSTORE_ADMIN_URL and EVENTSTORE_URL are the same.' }
    const user = await allowLogUser({ adminUrl, userUrl, retryTimeoutMs: readyTimeoutMs }).catch((error: Error) => {
      throw new OpsError(`The user cannot be created: ${error.message}`, { cause: error })
    })
    return { text: `${user} can read the whole log and append to it.` }
  },
})
