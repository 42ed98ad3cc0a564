//! Credentials of the profile that AWS' own tools use: `~/.aws/credentials` and `~/.aws/config` (the AWS SDKs and Tools
//! Reference Guide, "Shared config and credentials files").

use std::path::PathBuf;

/// Settings of a profile that stores know, each with its name in the environment.
const SETTINGS: &[(&str, &str)] = &[
    ("aws_access_key_id", "AWS_ACCESS_KEY_ID"),
    ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"),
    ("aws_session_token", "AWS_SESSION_TOKEN"),
    ("region", "AWS_REGION"),
    ("endpoint_url", "AWS_ENDPOINT_URL"),
];

/// The settings of the profile that the environment names, as variables of the environment; those of both files.
pub(super) fn settings() -> Vec<(String, String)> {
    let profile = std::env::var("AWS_PROFILE").unwrap_or_else(|_| "default".to_owned());
    let path = |variable: &str, name: &str| match std::env::var_os(variable) {
        Some(path) => Some(PathBuf::from(path)),
        None => Some(std::env::home_dir()?.join(".aws").join(name)),
    };
    let files = [
        (path("AWS_CONFIG_FILE", "config"), true),
        (path("AWS_SHARED_CREDENTIALS_FILE", "credentials"), false),
    ];
    let mut found = Vec::new();
    for (path, is_config) in files {
        // Without a file there is no profile.
        let text = path.and_then(|path| std::fs::read_to_string(path).ok());
        found.extend(of_text(&text.unwrap_or_default(), &profile, is_config));
    }
    found
}

/// The settings of a profile in the text of a file; in `config` sections are called `profile NAME`, but for the default one.
fn of_text(text: &str, profile: &str, is_config: bool) -> Vec<(String, String)> {
    let mut is_in = false;
    let mut found = Vec::new();
    for line in text.lines() {
        let is_nested = line.starts_with([' ', '\t']);
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[').and_then(|it| it.split(']').next()) {
            let name = section.trim();
            let name = match name.strip_prefix("profile ").filter(|_| is_config) {
                Some(name) => name.trim(),
                None if is_config && name != "default" => "",
                None => name,
            };
            is_in = name == profile;
            continue;
        }
        let is_comment = line.starts_with(['#', ';']);
        let Some((name, value)) = line
            .split_once('=')
            .filter(|_| is_in && !is_nested && !is_comment)
        else {
            continue;
        };
        let mut settings = SETTINGS.iter();
        if let Some((_, variable)) = settings.find(|it| it.0 == name.trim().to_lowercase()) {
            found.push(((*variable).to_owned(), value.trim().to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_of_the_profile() {
        let credentials = "# a comment\n[other]\naws_access_key_id = no\n[default]\naws_access_key_id=AK\n\
                           aws_secret_access_key = s=k\nunknown = 1\n";
        let found = of_text(credentials, "default", false);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            found,
            [
                pair("AWS_ACCESS_KEY_ID", "AK"),
                pair("AWS_SECRET_ACCESS_KEY", "s=k")
            ]
        );
        let config = "[default]\nregion = eu\n[profile work]\nregion = us\ns3 =\n  region = nested\n[work]\nregion = no\n";
        assert_eq!(of_text(config, "work", true), [pair("AWS_REGION", "us")]);
        assert_eq!(of_text(config, "default", true), [pair("AWS_REGION", "eu")]);
    }
}
