// Who is signed in; opened, the zone of times, the colours, and the sign-out.
import { Button, NativeSelect, Popover, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { queryClient } from '../api/queryClient.ts'
import { timeZoneOf } from '../format/time.ts'
import { Icon } from '../parts/Icon.tsx'
import { useIdentity } from '../session/identity.ts'
import { signOut, useSession } from '../session/session.ts'
import { usePreferences } from './Preferences.tsx'

export function Account() {
  const { email, id, user_type } = useIdentity()
  const name = email ?? id
  return (
    <Popover position="top-start" width={260} trapFocus returnFocus withinPortal shadow="none">
      <Popover.Target>
        <UnstyledButton className="account">
          <span className="srOnly">Account</span>
          <span className="accountLetter" aria-hidden="true">
            {name.charAt(0).toUpperCase()}
          </span>
          <span className="accountText">
            <span className="accountName">{name}</span>
            <span className="accountType">{user_type}</span>
          </span>
          <Icon name="settings" />
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <AccountSettings name={name} />
      </Popover.Dropdown>
    </Popover>
  )
}

const schemes = [
  { value: 'auto', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]
const zones = [
  { value: 'local', label: `Local (${timeZoneOf('local')})` },
  { value: 'utc', label: 'UTC' },
]

function AccountSettings({ name }: { readonly name: string }) {
  const { zone, setZone } = usePreferences()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { sessionId } = useSession()
  return (
    <div className="stack">
      <p className="wrap hint">Signed in as {name}</p>
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
      {sessionId === null ? (
        <p className="hint">Your site’s cookie signs you in. Sign out there.</p>
      ) : (
        <Button
          size="xs"
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
