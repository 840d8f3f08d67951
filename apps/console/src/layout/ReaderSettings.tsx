// The zone of times, the colour scheme, and the session.
import { Button, NativeSelect, useMantineColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { queryClient } from '../api/queryClient.ts'
import { identityQuery } from '../session/identity.ts'
import { signOut, useSession } from '../session/session.ts'
import { usePreferences } from './Preferences.tsx'

const schemes = [
  { value: 'auto', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]
const zones = [
  { value: 'local', label: 'Local' },
  { value: 'utc', label: 'UTC' },
]

export function ReaderSettings() {
  const { zone, setZone } = usePreferences()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <div className="readerSettings">
      <NativeSelect
        size="xs"
        label="Times"
        data={zones}
        value={zone}
        onChange={({ currentTarget }) => setZone(currentTarget.value === 'utc' ? 'utc' : 'local')}
      />
      <NativeSelect
        size="xs"
        label="Colours"
        data={schemes}
        value={colorScheme}
        onChange={({ currentTarget: { value } }) =>
          setColorScheme(value === 'light' || value === 'dark' ? value : 'auto')
        }
      />
      <SignedIn />
    </div>
  )
}

function SignedIn() {
  const { sessionId } = useSession()
  const { data } = useQuery(identityQuery(sessionId))
  return (
    <div className="signedIn">
      <span className="who">{data?.user_email ?? data?.user_id ?? 'Signed in'}</span>
      {sessionId === null ? (
        <span className="hint">Signed in by your site’s cookie</span>
      ) : (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => {
            signOut()
            queryClient.clear()
          }}
        >
          Sign out
        </Button>
      )}
    </div>
  )
}
